/**
 * The public client of the registry (`carbon-mirror/client`). It knows neither the mirror nor the databases. All parts of one
 * client share one limit of requests, one corrected clock and the access tokens in memory. The private key and the tokens
 * never appear in an error.
 */
import { KeyObject } from 'node:crypto';
import { createAppClient } from './registry/app-client.js';
import type {
  AppClient,
  CreatedOrganization,
  OrganizationClient,
  RegistryClient,
  TokenClient,
} from './registry/client-types.js';
import type { HttpOptions } from './registry/http/http-types.js';
import { RegistryError } from './registry/errors.js';
import { createHttpClient } from './registry/http/http-client.js';
import type { AppJwt, TokenSource } from './registry/http/credential.js';
import { createOrganizationClient } from './registry/organization-client.js';
import { createTokenClient } from './registry/token-client.js';
import { type AccessTokens, createAccessTokens } from './registry/auth/access-tokens.js';
import { createAppJwtSource } from './registry/auth/app-jwt.js';
import { createRegistryClock } from './registry/auth/registry-clock.js';
import { readPrivateKey } from './registry/auth/private-key.js';

export {
  type AccessTokenClient,
  type AccessTokenClientOptions,
  createClientWithToken,
} from './registry/access-token-client.js';
export { RegistryError, type RegistryErrorCode } from './registry/errors.js';
export type {
  Address,
  Amount,
  Credit,
  CreditAction,
  CreditType,
  Installation,
  InventoryRequest,
  InventoryRequestState,
  Member,
  OpenWord,
  Organization,
  OrganizationType,
  Permissions,
  Project,
  Reservation,
  ReservationState,
  Retirement,
  TransactionStatus,
} from './registry/object-models.js';
export { getReservationState } from './registry/reservation-state.js';
export type {
  Download,
  DownloadOptions,
  ListOptions,
  Page,
  PagedList,
  ReadOptions,
  UnreadableRow,
} from './registry/read-types.js';
export type {
  CreateUserAndOrganizationRequest,
  FinishRequest,
  InventoryActionRequest,
  ReserveRequest,
  RetirementData,
} from './registry/writes/request-bodies.js';
export type { RetirementQuery } from './registry/writes/find-retirement.js';
export type { CallRecord, Fetch } from './registry/http/http-types.js';
export { PrivateKeyError } from './registry/auth/private-key.js';
export type { AppClient, CreatedOrganization, OrganizationClient, TokenClient };

export interface ClientOptions extends HttpOptions {
  /** The id of the app, as the registry shows it. */
  readonly appId: string;
  /** An RSA key, as PEM text (PKCS#1 or PKCS#8; line breaks may be written as `\n`) or as a `KeyObject`. */
  readonly privateKey: string | KeyObject;
  /** Called when the clock for JWTs is corrected, because the local one is too far from the registry's. */
  readonly onClockCorrection?: (offsetMs: number) => void;
  /** Called if a refused JWT calls for a correction of the clock that is too large or too soon to be trusted. */
  readonly onClockRefusal?: (skewMs: number) => void;
}

/** A client of one app at one registry. */
export interface Client extends RegistryClient {
  /** The access tokens in memory, which all parts of this client share. */
  readonly tokens: AccessTokens;
  /** The app's JWT, for requests that `http` sends directly. */
  readonly jwt: TokenSource<AppJwt>;
}

/** Creates a registry client for one app. Sends nothing before the first call. */
export function createClient(options: ClientOptions): Client {
  const { onClockCorrection, onClockRefusal } = options;
  const appId = checkAppId(options.appId);
  const privateKey = toPrivateKey(options.privateKey);
  const clock = createRegistryClock({
    now: () => http.localNow(),
    ...(onClockCorrection === undefined ? {} : { onCorrection: onClockCorrection }),
    ...(onClockRefusal === undefined ? {} : { onRefusal: onClockRefusal }),
  });
  const http = createHttpClient({
    ...options,
    secrets: [...(options.secrets ?? []), exportPem(privateKey)],
    onDate: (registryMs, localMs, status) => {
      clock.observeResponse({ registryMs, localMs, status });
      options.onDate?.(registryMs, localMs, status);
    },
  });
  const jwt = createAppJwtSource({ appId, privateKey, now: clock.now });
  const app = createAppClient({
    http,
    token: jwt,
    onInstallation: ({ id, permissions }) => tokens.setGrantedPermissions(id, permissions),
  });
  const tokens = createAccessTokens({ issuer: app, now: clock.now });

  return {
    http,
    app,
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

/** Throws a `RegistryError` unless the app id is a string of printable ASCII characters. */
function checkAppId(appId: unknown): string {
  // JavaScript callers may pass a variable that was never set.
  if (typeof appId === 'string' && /^[\x21-\x7e]+$/.test(appId)) return appId;
  throw new RegistryError('bad_request', 'appId: expected the id of the app, as the registry shows it');
}

/** Returns the private key, parsed from PEM if necessary. Throws unless the key is an RSA private key. */
function toPrivateKey(key: unknown): KeyObject {
  if (typeof key === 'string') return readPrivateKey(key);
  if (key instanceof KeyObject && key.type === 'private' && key.asymmetricKeyType === 'rsa') return key;
  throw new RegistryError(
    'bad_request',
    'privateKey: expected PEM text, or a KeyObject of an RSA private key',
  );
}

function exportPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
