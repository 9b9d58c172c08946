import type { KeyObject } from 'node:crypto';
import { type AccessTokens, createAccessTokens } from '../auth/access-tokens.js';
import { createAppJwt } from '../auth/app-jwt.js';
import { type AppClient, createAppClient } from '../registry/app-client.js';
import type { Http } from '../registry/calls.js';
import { createOrganizationClient, type OrganizationClient } from '../registry/organization-client.js';
import { createTokenClient, type TokenClient } from '../registry/token-client.js';

export interface ClientsOptions {
  readonly http: Http;
  readonly appId: string;
  readonly privateKey: KeyObject;
  /** Epoch milliseconds, corrected to the registry's time. */
  readonly now: () => number;
}

/** Everything that speaks to the registry for one app, on one budget of calls. */
export interface Clients {
  readonly appId: string;
  readonly http: Http;
  readonly app: AppClient;
  readonly tokens: AccessTokens;
  /** With the app's own token: what is public. */
  readonly open: TokenClient;
  organization(installationId: string, organizationId: string): OrganizationClient;
}

export function createClients({ http, appId, privateKey, now }: ClientsOptions): Clients {
  const app = createAppClient({ http, token: createAppJwt({ appId, privateKey, now }) });
  const tokens = createAccessTokens({ mint: app, now });
  return {
    appId,
    http,
    app,
    tokens,
    open: createTokenClient({ http, token: tokens.app() }),
    organization: (installationId, organizationId) =>
      createOrganizationClient({
        http,
        organizationId,
        token: tokens.installation(installationId, organizationId),
        appId,
      }),
  };
}
