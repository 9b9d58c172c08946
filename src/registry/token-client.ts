import type { Answer, Call, CallRecord, Http } from './http/calls.js';
import type { ProjectQuery, TokenClient } from './clients.js';
import type { AnyAccessToken, TokenSource } from './http/credential.js';
import { RegistryError } from './errors.js';
import { isObject, isId, isPrintable, type Credit } from './model.js';
import { parseJson } from './json/fields.js';
import { parseCredit, parseProject, parseRetirement } from './json/parse.js';
import { writeOnce } from './writes/once.js';
import { listPages } from './pages/pages.js';
import type { ReadOptions } from './reading.js';
import { bodyText, cutAll, download, readOne } from './pages/single.js';

export interface TokenClientOptions {
  readonly http: Http;
  readonly token: TokenSource<AnyAccessToken>;
}

type Params = Readonly<Record<string, string>>;

const PROJECT = { name: 'project', parse: parseProject };
const PROJECTS = { key: 'projects', parse: parseProject, idNames: ['id', '_id', 'projectId'] };
const RETIREMENT = { name: 'retirement', parse: parseRetirement };

export function createTokenClient({ http, token }: TokenClientOptions): TokenClient {
  const get = (route: string, params: Params = {}): Call => ({ method: 'GET', route, params, token });

  return {
    listProjects: options => listPages({ http, call: get('/projects'), ...PROJECTS }, options),
    findProject: async (query, options) =>
      readOne(http, { ...get(http.findPath), query: findQuery(query) }, PROJECT, options),
    readProject: (projectId, options) =>
      readOne(http, get('/projects/:projectId', { projectId }), PROJECT, options),
    readRetirement: async (id, options) =>
      readOne(http, { ...get('/retirements'), query: { id: checkedId(id) } }, RETIREMENT, options),
    downloadCertificate: (retirementId, options) =>
      download(http, get('/retirements/:retirementId/pdf', { retirementId }), options),
    friendbot: (organizationId, options = {}) =>
      writeOnce(http, options, {
        call: get('/organizations/:organizationId/friendbot', { organizationId }),
        read: readDeposit,
      }),
    revokeToken: options => revoke(http, token, options),
  };
}

/** What the answer of a deposit looks like is not known: any JSON, or nothing, says that it was made. */
function readDeposit(answer: Answer): readonly Credit[] {
  const text = bodyText(answer);
  const sent = text === '' ? {} : parseJson(text, 'friendbot');
  return isObject(sent) && Array.isArray(sent['credits']) ? cutAll(answer, 'credits', parseCredit).items : [];
}

/**
 * A token that is dead already cannot be renewed for this, and need not be.
 * Refused after an answer was lost, it was revoked by the try before.
 */
async function revoke(http: Http, token: TokenSource<AnyAccessToken>, options: ReadOptions = {}) {
  const { token: ended } = await token.get();
  const only = { get: async () => ({ token: ended, fresh: true }), refuse: () => undefined };
  const call: Call = { method: 'DELETE', route: '/app/installations/token', token: only, repeatable: true };
  let lost = false;
  const onCall = (record: CallRecord) => {
    lost ||= record.status === null;
    options.onCall?.(record);
  };
  try {
    await http.call({ ...call, signal: options.signal, onCall });
  } catch (error) {
    if (!(lost && error instanceof RegistryError && error.code === 'unauthorized')) throw error;
  } finally {
    token.refuse(ended);
  }
}

function findQuery({ serialization, creditId }: ProjectQuery): Params {
  if (serialization === undefined && creditId === undefined) {
    throw new RegistryError('bad_request', 'findProject: expected a serialization or a creditId');
  }
  const asked = Object.entries({ serialization, creditId });
  return Object.fromEntries(
    asked.flatMap(([name, text]) => (text === undefined ? [] : [[name, printable(name, text)]])),
  );
}

function printable(name: string, text: string): string {
  if (isPrintable(text)) return text;
  throw new RegistryError('bad_request', `${name}: expected printable text`);
}

function checkedId(id: string): string {
  if (isId(id)) return id;
  throw new RegistryError('bad_request', 'id: expected an id');
}
