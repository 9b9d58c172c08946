import type { HttpClient, HttpRequest, RouteParams } from './http/http-types.js';
import type { AppClient, CreatedOrganization } from './client-types.js';
import type { AppJwt, TokenSource } from './http/credential.js';
import { createBadAnswerError, getObjectField, parseObject, type SourceObject } from './json/json-object.js';
import type { Installation } from './object-models.js';
import { parseInstallation, parseOrganization, parseUser, parseAccessToken } from './json/parse-objects.js';
import { findMatches } from './writes/lost-write-match.js';
import { writeOnce } from './writes/write-once.js';
import { createPagedList, observePages } from './pages/paged-lists.js';
import { readPages } from './pages/read-pages.js';
import { type ListOptions, pickRequestOptions, type ReadOptions } from './read-types.js';
import {
  type CreateUserAndOrganizationRequest,
  formatUserAndOrganizationBody,
} from './writes/request-bodies.js';
import { isSameId } from './pages/list-owner.js';
import { decodeBody, readObject } from './pages/single-response.js';

export interface AppClientOptions {
  readonly http: HttpClient;
  readonly token: TokenSource<AppJwt>;
  /** Called for each installation in a response, including those of pages that are read ahead. */
  readonly onInstallation?: (installation: Installation) => void;
}

/** Creates the client for the calls that authenticate with the app's JWT. */
export function createAppClient({ http, token, onInstallation }: AppClientOptions): AppClient {
  const installationFormat = { name: 'installation', parse: parseAndReportInstallation };

  /** Parses an installation and reports it to the callback `onInstallation`. */
  function parseAndReportInstallation(object: SourceObject): Installation {
    const installation = parseInstallation(object);
    onInstallation?.(installation);
    return installation;
  }

  function createGetRequest(route: string, params: RouteParams = {}): HttpRequest {
    return { method: 'GET', route, params, token };
  }

  /** Lists the installations of the app, one for each organization that has installed it. */
  function listInstallations(options?: ListOptions) {
    const request = createGetRequest('/app/installations');
    const source = { http, request, key: 'installations', parse: parseAndReportInstallation };
    return createPagedList(observation => readPages(source, { ...options, ...observation }));
  }

  /** Requests a new access token from this route. Returns the text of the response body. */
  async function requestAccessToken(
    route: string,
    params: RouteParams,
    options: ReadOptions = {},
  ): Promise<string> {
    // A retry is harmless: a token that nobody uses just expires.
    const request = { method: 'POST', route, params, token, repeatable: true } as const;
    return decodeBody(await http.send({ ...request, ...pickRequestOptions(options) }));
  }

  /**
   * Searches for the installation that a write may have created although its response was lost. An installation matches if its organization
   * has this name and the installation was created after the write was sent.
   */
  function findCreatedInstallations(
    fullName: string,
    isCreatedSinceWrite: (instant: string | null) => boolean,
    options: ReadOptions,
  ) {
    return findMatches(observePages(listInstallations(options)), ({ organization, createdAt }) =>
      organization?.fullName === fullName && isCreatedSinceWrite(createdAt) ? 'certain' : 'none',
    );
  }

  /**
   * Creates a user and an organization. If the response is lost, searches for the new organization instead of sending the
   * request again.
   */
  async function createUserAndOrganization(
    body: CreateUserAndOrganizationRequest,
    options: ReadOptions = {},
  ): Promise<CreatedOrganization> {
    const { fullName } = body.organization;
    return writeOnce<CreatedOrganization>(http, options, {
      request: {
        method: 'POST',
        route: '/app/create/user/organization',
        body: formatUserAndOrganizationBody(body),
        token,
      },
      parseResponse: response => parseCreatedOrganization(decodeBody(response)),
      lookUp: async isSinceWrite => {
        const { candidates, certain } = await findCreatedInstallations(fullName, isSinceWrite, options);
        return {
          candidates: candidates.map(toCreatedOrganization),
          certain: certain.map(toCreatedOrganization),
        };
      },
      getCreatedId: ({ installation }) => installation.id,
      duplicateKey: fullName,
    });
  }

  /** Reads the installation of the app on an organization. Throws if the response names another organization. */
  async function readInstallationOf(organizationId: string, options?: ReadOptions): Promise<Installation> {
    const request = createGetRequest('/app/organizations/:organizationId/installation', { organizationId });
    const installation = await readObject(http, request, installationFormat, options);
    const ownerId = installation.organizationId ?? organizationId;
    if (isSameId(ownerId, organizationId)) return installation;
    throw createBadAnswerError(
      'installation',
      'the installation on the requested organization',
      'another one',
    );
  }

  return {
    createAppToken: async options =>
      parseAccessToken(await requestAccessToken('/app/accessTokens', {}, options)),
    createInstallationToken: async (installationId, options) => {
      const route = '/app/installations/:installationId/accessTokens';
      return parseAccessToken(await requestAccessToken(route, { installationId }, options));
    },
    createUserAndOrganization,
    listInstallations,
    readInstallation: (installationId, options) => {
      const request = createGetRequest('/app/installations/:installationId', { installationId });
      return readObject(http, request, { ...installationFormat, id: installationId }, options);
    },
    readInstallationOf,
  };
}

/** Builds the result of a creation from an installation, which names no user. */
function toCreatedOrganization(installation: Installation): CreatedOrganization {
  return { user: null, organization: installation.organization, installation };
}

/** Parses the response of a request that created an organization. Throws if the response has no installation. */
function parseCreatedOrganization(text: string): CreatedOrganization {
  const created = parseObject(text, 'created');
  const installationObject = getObjectField(created, 'installation');
  if (installationObject === null) throw createBadAnswerError('created.installation', 'an object', 'none');
  const installation = parseInstallation(installationObject);
  const organization = getObjectField(created, 'organization');
  const user = getObjectField(created, 'user');
  return {
    user: user && parseUser(user),
    organization: organization ? parseOrganization(organization) : installation.organization,
    installation,
  };
}
