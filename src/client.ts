import { KeyObject } from 'node:crypto';
import { createAppClient } from './registry/app-client.js';
import type {
  AppClient,
  CreatedOrganization,
  OrganizationClient,
  RegistryClient,
  TokenClient,
} from './registry/clients.js';
import type { HttpOptions } from './registry/http/calls.js';
import { RegistryError } from './registry/errors.js';
import { createHttp } from './registry/http/http.js';
import type { AppJwt, TokenSource } from './registry/http/credential.js';
import type { Installation } from './registry/model.js';
import { createOrganizationClient } from './registry/organization-client.js';
import type { Page } from './registry/reading.js';
import { createTokenClient } from './registry/token-client.js';
import { type AccessTokens, createAccessTokens } from './registry/auth/access-tokens.js';
import { createAppJwt } from './registry/auth/app-jwt.js';
import { createClock } from './registry/auth/clock.js';
import { readPrivateKey } from './registry/auth/private-key.js';

export {
  createClientWithToken,
  type GivenTokenClient,
  type GivenTokenOptions,
} from './registry/given-token.js';
export { RegistryError, type RegistryErrorCode } from './registry/errors.js';
export type { Action, Amount, Permissions } from './registry/model.js';
export type {
  Address,
  Credit,
  Installation,
  InventoryRequest,
  Member,
  Organization,
  Project,
  Reservation,
  Retirement,
} from './registry/model.js';
export { reservationState } from './registry/reservation-state.js';
export type { Download, ListOptions, Page, ReadOptions } from './registry/reading.js';
export type {
  CreateUserAndOrganizationRequest,
  FinishRequest,
  InventoryActionRequest,
  ReserveRequest,
  RetirementData,
} from './registry/writes/requests.js';
export { PrivateKeyError } from './registry/auth/private-key.js';
export type { AppClient, CreatedOrganization, OrganizationClient, TokenClient };

export interface ClientOptions extends HttpOptions {
  readonly appId: string;
  /** RSA, as PEM text (PKCS#1 or PKCS#8, real or written-out line ends) or as a key that was read before. */
  readonly privateKey: string | KeyObject;
  /** Told when the registry's clock is so far from ours that JWTs are signed by its time. */
  readonly onClockCorrection?: (offsetMs: number) => void;
  /** Told when JWTs are refused and the registry's Date header would explain it, but is not to be believed. */
  readonly onClockRefusal?: (skewMs: number) => void;
}

/** One app at one registry. All parts share one budget of calls, one clock and the tokens in memory. */
export interface Client extends RegistryClient {
  readonly tokens: AccessTokens;
  /** The app's own JWT, for calls by path. */
  readonly jwt: TokenSource<AppJwt>;
}

export function createClient(options: ClientOptions): Client {
  const { onClockCorrection, onClockRefusal } = options;
  const appId = checkedAppId(options.appId);
  const privateKey = keyOf(options.privateKey);
  const clock = createClock({
    now: options.now,
    ...(onClockCorrection === undefined ? {} : { onCorrection: onClockCorrection }),
    ...(onClockRefusal === undefined ? {} : { onRefusal: onClockRefusal }),
  });
  const http = createHttp({
    ...options,
    secrets: [...(options.secrets ?? []), pemOf(privateKey)],
    onDate: (registryMs, localMs, status) => {
      clock.observe({ registryMs, localMs, status });
      options.onDate?.(registryMs, localMs, status);
    },
  });
  const jwt = createAppJwt({ appId, privateKey, now: clock.now });
  const signing = createAppClient({ http, token: jwt });
  const tokens = createAccessTokens({ mint: signing, now: clock.now });

  return {
    http,
    app: matchingPermissions(signing, tokens),
    token: createTokenClient({ http, token: tokens.app() }),
    installation: installationId => createTokenClient({ http, token: tokens.installation(installationId) }),
    organization: (installationId, organizationId) =>
      createOrganizationClient({
        http,
        organizationId,
        appId,
        token: tokens.installation(installationId, organizationId),
      }),
    tokens,
    jwt,
  };
}

/** Programs without types leave out what they have not read. */
function checkedAppId(appId: unknown): string {
  if (typeof appId === 'string' && /^[\x21-\x7e]+$/.test(appId)) return appId;
  throw new RegistryError('bad_request', 'appId: expected the id of the app, as the registry gave it');
}

function keyOf(key: unknown): KeyObject {
  if (typeof key === 'string') return readPrivateKey(key);
  if (key instanceof KeyObject && key.type === 'private' && key.asymmetricKeyType === 'rsa') return key;
  throw new RegistryError(
    'bad_request',
    'privateKey: expected PEM text, or an RSA private key that was read',
  );
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Each time an installation is read, a token that carries other permissions than it has is dropped. */
function matchingPermissions(app: AppClient, tokens: AccessTokens): AppClient {
  function noted(installation: Installation): Installation {
    tokens.matchPermissions(installation.id, installation.permissions);
    return installation;
  }

  async function* notedPages(pages: AsyncIterable<Page<Installation>>): AsyncGenerator<Page<Installation>> {
    for await (const page of pages) {
      page.items.forEach(noted);
      yield page;
    }
  }

  return {
    ...app,
    listInstallations: options => notedPages(app.listInstallations(options)),
    readInstallation: async (id, options) => noted(await app.readInstallation(id, options)),
    readInstallationOf: async (id, options) => noted(await app.readInstallationOf(id, options)),
  };
}
