import type { OrganizationClient, TokenClient } from './client-types.js';
import { RegistryError } from './errors.js';
import type { HttpClient, HttpOptions } from './http/http-types.js';
import { type InstallationToken, isCredential, type TokenSource } from './http/credential.js';
import { createHttpClient } from './http/http-client.js';
import { createOrganizationClient } from './organization-client.js';
import { createTokenClient } from './token-client.js';

export interface AccessTokenClientOptions extends HttpOptions {
  /**
   * An access token, or a function that returns one. The function is called before each attempt, and again after the
   * registry refused the token.
   */
  readonly token: string | (() => string | Promise<string>);
  /** The app that the token belongs to. Without it, a reservation whose response was lost cannot be attributed to the app. */
  readonly appId?: string;
}

/** Uses an access token that was created elsewhere, such as by an organization on the registry's website. */
export interface AccessTokenClient {
  readonly http: HttpClient;
  readonly token: TokenClient;
  organization(organizationId: string): OrganizationClient;
}

/** Creates a registry client from an existing access token. A token passed as a string is never renewed. */
export function createClientWithToken(options: AccessTokenClientOptions): AccessTokenClient {
  const { appId = null } = options;
  const http = createHttpClient(options);
  const token = createTokenSource(options.token);
  return {
    http,
    token: createTokenClient({ http, token }),
    organization: organizationId => createOrganizationClient({ http, organizationId, appId, token }),
  };
}

/**
 * Converts the option `token` to a `TokenSource`. The option is a token, or a function that returns one and is called before
 * each attempt.
 */
function createTokenSource(token: AccessTokenClientOptions['token']): TokenSource<InstallationToken> {
  if (typeof token === 'string') {
    const fixedToken = validateAccessToken(token);
    return { get: async () => ({ token: fixedToken, fresh: true }), discard: () => undefined };
  }
  return {
    get: async () => ({ token: validateAccessToken(await token()), fresh: false }),
    discard: () => undefined,
  };
}

/** Returns the text as an access token. Throws `bad_request` unless it is printable ASCII without spaces. */
function validateAccessToken(text: string): InstallationToken {
  if (isCredential<InstallationToken>(text)) return text;
  throw new RegistryError('bad_request', 'token: expected an access token: printable characters, no spaces');
}
