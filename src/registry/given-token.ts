import type { OrganizationClient, TokenClient } from './clients.js';
import { RegistryError } from './errors.js';
import type { Http, HttpOptions } from './http/calls.js';
import { type InstallationToken, isCredential, type TokenSource } from './http/credential.js';
import { createHttp } from './http/http.js';
import { createOrganizationClient } from './organization-client.js';
import { createTokenClient } from './token-client.js';

export interface GivenTokenOptions extends HttpOptions {
  /** An access token of any kind, or where one comes from: asked before each call, and once more when one is refused. */
  readonly token: string | (() => string | Promise<string>);
  /** The app that the token is for. Without it no reservation is known as ours after a lost answer. */
  readonly appId?: string;
}

/** What can be done with an access token that was made elsewhere, such as an organization's own. */
export interface GivenTokenClient {
  readonly http: Http;
  readonly token: TokenClient;
  organization(organizationId: string): OrganizationClient;
}

/** A token that comes as text is never renewed: where the registry refuses it, that is the answer. */
export function createClientWithToken(options: GivenTokenOptions): GivenTokenClient {
  const { token: given, appId = null } = options;
  const isText = typeof given === 'string';
  const ask = isText ? keep(checked(given)) : given;
  const http = createHttp(options);
  const token: TokenSource<InstallationToken> = {
    get: async () => ({ token: checked(await ask()), fresh: isText }),
    refuse: () => undefined,
  };
  return {
    http,
    token: createTokenClient({ http, token }),
    organization: organizationId => createOrganizationClient({ http, organizationId, appId, token }),
  };
}

function keep(token: string) {
  return () => token;
}

function checked(text: string): InstallationToken {
  if (isCredential<InstallationToken>(text)) return text;
  throw new RegistryError('bad_request', 'token: expected an access token: printable characters, no blanks');
}
