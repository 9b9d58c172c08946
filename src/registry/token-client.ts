import type { CallRecord, HttpClient, HttpRequest, HttpResponse, RouteParams } from './http/http-types.js';
import type { ProjectQuery, TokenClient } from './clients.js';
import type { AnyAccessToken, TokenSource } from './http/credential.js';
import { RegistryError } from './errors.js';
import { isObject, isId, isPrintable, type Credit } from './model.js';
import { parseJson } from './json/json-object.js';
import { parseCredit, parseProject, parseRetirement } from './json/parse-objects.js';
import { writeOnce } from './writes/write-once.js';
import { readPages } from './pages/pages.js';
import type { ReadOptions } from './read-types.js';
import { decodeBody, openDownload, parseShortList, readObject } from './pages/single-response.js';

export interface TokenClientOptions {
  readonly http: HttpClient;
  readonly token: TokenSource<AnyAccessToken>;
}

const PROJECT_FORMAT = { name: 'project', parse: parseProject };
const PROJECT_LIST = { key: 'projects', parse: parseProject, idNames: ['id', '_id', 'projectId'] };
const RETIREMENT_FORMAT = { name: 'retirement', parse: parseRetirement };

/** Creates the client for what any access token allows. */
export function createTokenClient({ http, token }: TokenClientOptions): TokenClient {
  function createGet(route: string, params: RouteParams = {}): HttpRequest {
    return { method: 'GET', route, params, token };
  }

  return {
    listProjects: options => readPages({ http, request: createGet('/projects'), ...PROJECT_LIST }, options),
    findProject: async (query, options) => {
      const request = { ...createGet(http.findPath), query: createProjectQuery(query) };
      return readObject(http, request, PROJECT_FORMAT, options);
    },
    readProject: (projectId, options) =>
      readObject(http, createGet('/projects/:projectId', { projectId }), PROJECT_FORMAT, options),
    readRetirement: async (retirementId, options) => {
      const request = { ...createGet('/retirements'), query: { id: checkId(retirementId) } };
      return readObject(http, request, RETIREMENT_FORMAT, options);
    },
    downloadCertificate: (retirementId, options) =>
      openDownload(http, createGet('/retirements/:retirementId/pdf', { retirementId }), options),
    friendbot: (organizationId, options = {}) =>
      writeOnce(http, options, {
        request: createGet('/organizations/:organizationId/friendbot', { organizationId }),
        parseResponse: parseDeposit,
      }),
    revokeToken: options => revokeToken(http, token, options),
  };
}

/** Returns the credits of a deposit. The form of the answer is not documented: any JSON or an empty body confirms the deposit. */
function parseDeposit(response: HttpResponse): readonly Credit[] {
  const text = decodeBody(response);
  const answer = text === '' ? {} : parseJson(text, 'friendbot');
  const hasCredits = isObject(answer) && Array.isArray(answer['credits']);
  return hasCredits ? parseShortList(response, 'credits', parseCredit).items : [];
}

/**
 * Revokes the current token. It is not renewed for this, because a token that is refused needs no revocation. If an answer
 * was lost and the token is then refused, the lost attempt has revoked it.
 */
async function revokeToken(
  http: HttpClient,
  tokens: TokenSource<AnyAccessToken>,
  options: ReadOptions = {},
): Promise<void> {
  const { token } = await tokens.get();
  const fixedToken = { get: async () => ({ token, fresh: true }), refuse: () => undefined };
  let hasLostAnswer = false;
  const onCall = (record: CallRecord) => {
    hasLostAnswer ||= record.status === null;
    options.onCall?.(record);
  };
  try {
    await http.send({
      method: 'DELETE',
      route: '/app/installations/token',
      token: fixedToken,
      repeatable: true,
      signal: options.signal,
      onCall,
    });
  } catch (error) {
    const isRevoked = hasLostAnswer && error instanceof RegistryError && error.code === 'unauthorized';
    if (!isRevoked) throw error;
  } finally {
    tokens.refuse(token);
  }
}

/** Creates the query that finds a project. Throws `bad_request` if both values are missing or one is malformed. */
function createProjectQuery({ serialization, creditId }: ProjectQuery): Readonly<Record<string, string>> {
  if (serialization === undefined && creditId === undefined)
    throw new RegistryError('bad_request', 'findProject: expected a serialization or a creditId');
  return {
    ...(serialization !== undefined && { serialization: checkPrintable('serialization', serialization) }),
    ...(creditId !== undefined && { creditId: checkPrintable('creditId', creditId) }),
  };
}

/** Returns the text; throws `bad_request` unless it is printable. */
function checkPrintable(fieldName: string, text: string): string {
  if (isPrintable(text)) return text;
  throw new RegistryError('bad_request', `${fieldName}: expected printable text`);
}

/** Returns the id; throws `bad_request` unless it is one. */
function checkId(id: string): string {
  if (isId(id)) return id;
  throw new RegistryError('bad_request', 'id: expected an id');
}
