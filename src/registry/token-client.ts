import type { CallRecord, HttpClient, HttpRequest, HttpResponse, RouteParams } from './http/http-types.js';
import type { ProjectQuery, TokenClient } from './client-types.js';
import type { AnyAccessToken, TokenSource } from './http/credential.js';
import { RegistryError } from './errors.js';
import type { Credit } from './object-models.js';
import { isObject, isId, isPrintable } from '../text/checks.js';
import { parseJson } from './json/json-object.js';
import { parseCredit, parseProject, parseRetirement } from './json/parse-objects.js';
import { writeOnce } from './writes/write-once.js';
import { readPages } from './pages/read-pages.js';
import type { ReadOptions } from './read-types.js';
import { createPagedList } from './pages/paged-lists.js';
import { decodeBody, openDownload, parseShortList, readObject } from './pages/single-response.js';

export interface TokenClientOptions {
  readonly http: HttpClient;
  readonly token: TokenSource<AnyAccessToken>;
}

const PROJECT_FORMAT = { name: 'project', parse: parseProject };
const PROJECT_LIST = { key: 'projects', parse: parseProject, idNames: ['id', '_id', 'projectId'] };
const RETIREMENT_FORMAT = { name: 'retirement', parse: parseRetirement };

/** Creates the client for the calls that work with any access token. */
export function createTokenClient({ http, token }: TokenClientOptions): TokenClient {
  function createGetRequest(route: string, params: RouteParams = {}): HttpRequest {
    return { method: 'GET', route, params, token };
  }

  return {
    listProjects: options => {
      const source = { http, request: createGetRequest('/projects'), ...PROJECT_LIST };
      return createPagedList(observation => readPages(source, { ...options, ...observation }));
    },
    findProject: async (query, options) => {
      const request = { ...createGetRequest(http.findPath), query: createProjectQuery(query) };
      return readObject(http, request, PROJECT_FORMAT, options);
    },
    readProject: (projectId, options) =>
      readObject(http, createGetRequest('/projects/:projectId', { projectId }), PROJECT_FORMAT, options),
    readRetirement: async (retirementId, options) => {
      const request = { ...createGetRequest('/retirements'), query: { id: requireId(retirementId) } };
      return readObject(http, request, RETIREMENT_FORMAT, options);
    },
    downloadCertificate: (retirementId, options) =>
      openDownload(http, createGetRequest('/retirements/:retirementId/pdf', { retirementId }), options),
    friendbot: (organizationId, options = {}) =>
      writeOnce(http, options, {
        request: createGetRequest('/organizations/:organizationId/friendbot', { organizationId }),
        parseResponse: parseDeposit,
      }),
    revokeToken: options => revokeToken(http, token, options),
  };
}

/** Returns the credits in the response to a deposit. Returns an empty list if the response contains no credits. */
function parseDeposit(response: HttpResponse): readonly Credit[] {
  const text = decodeBody(response);
  const answer = text === '' ? {} : parseJson(text, 'friendbot');
  const hasCredits = isObject(answer) && Array.isArray(answer['credits']);
  return hasCredits ? parseShortList(response, 'credits', parseCredit).items : [];
}

/** Revokes the client's access token at the registry. Discards the token from `tokens` even if the request fails. */
async function revokeToken(
  http: HttpClient,
  tokens: TokenSource<AnyAccessToken>,
  options: ReadOptions = {},
): Promise<void> {
  const { token } = await tokens.get();
  const fixedToken = { get: async () => ({ token, fresh: true }), discard: () => undefined };
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
    // A 401 after a lost response shows that the first request has revoked the token.
    const isRevoked = hasLostAnswer && error instanceof RegistryError && error.code === 'unauthorized';
    if (!isRevoked) throw error;
  } finally {
    tokens.discard(token);
  }
}

/**
 * Creates the query parameters that find a project by one of its credits. The parameter `serialization` is the serial number of
 * the credit. Throws `bad_request` if the serial number and the id are both missing.
 */
function createProjectQuery({ serialization, creditId }: ProjectQuery): Readonly<Record<string, string>> {
  if (serialization === undefined && creditId === undefined)
    throw new RegistryError('bad_request', 'findProject: expected a serialization or a creditId');
  return {
    ...(serialization !== undefined && { serialization: requirePrintable('serialization', serialization) }),
    ...(creditId !== undefined && { creditId: requirePrintable('creditId', creditId) }),
  };
}

/** Returns the text unchanged. Throws `bad_request` if the text has unprintable characters. */
function requirePrintable(fieldName: string, text: string): string {
  if (isPrintable(text)) return text;
  throw new RegistryError('bad_request', `${fieldName}: expected printable text`);
}

/** Returns the id unchanged. Throws `bad_request` if the id is malformed. */
function requireId(id: string): string {
  if (isId(id)) return id;
  throw new RegistryError('bad_request', 'id: expected an id');
}
