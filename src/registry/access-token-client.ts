import type { OrganizationClient, TokenClient } from './clients.js';
import { RegistryError } from './errors.js';
import type { HttpClient, HttpOptions } from './http/http-types.js';
import { type InstallationToken, isCredential, type TokenSource } from './http/credential.js';
import { createHttpClient } from './http/http-client.js';
import { createOrganizationClient } from './organization-client.js';
import { createTokenClient } from './token-client.js';

export interface AccessTokenClientOptions extends HttpOptions {
  /** An access token of any kind, or a function that returns one. The function is called before each attempt, and again after a refusal. */
  readonly token: string | (() => string | Promise<string>);
  /** The app of the token. Without it, a reservation whose answer was lost cannot be recognized as ours. */
  readonly appId?: string;
}

/** A client with an access token that was created elsewhere, such as by an organization in the registry's pages. */
export interface AccessTokenClient {
  readonly http: HttpClient;
  readonly token: TokenClient;
  organization(organizationId: string): OrganizationClient;
}

/** Creates a client that uses an access token. A token given as text is never renewed: if it is refused, the call fails. */
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

/** Creates the source of a fixed token, or of the tokens that a function returns. */
function createTokenSource(token: AccessTokenClientOptions['token']): TokenSource<InstallationToken> {
  if (typeof token === 'string') {
    const fixedToken = toAccessToken(token);
    return { get: async () => ({ token: fixedToken, fresh: true }), refuse: () => undefined };
  }
  return {
    get: async () => ({ token: toAccessToken(await token()), fresh: false }),
    refuse: () => undefined,
  };
}

function toAccessToken(text: string): InstallationToken {
  if (isCredential<InstallationToken>(text)) return text;
  throw new RegistryError('bad_request', 'token: expected an access token: printable characters, no spaces');
}
