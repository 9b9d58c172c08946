import type { AppAccessToken, AppJwt, InstallationAccessToken, TokenSource } from './credential.js';
import { RegistryError } from './errors.js';
import type { Http } from './http.js';
import type { CreatedOrganization, Installation } from './model.js';
import type { ListOptions, Page, ReadOptions } from './reading.js';
import type { CreateUserAndOrganizationRequest } from './requests.js';

export interface AppClientOptions {
  readonly http: Http;
  readonly token: TokenSource<AppJwt>;
}

/** What the app does as itself, with its JWT. */
export interface AppClient {
  createAppToken(options?: ReadOptions): Promise<AppAccessToken>;
  createInstallationToken(installationId: string, options?: ReadOptions): Promise<InstallationAccessToken>;
  createUserAndOrganization(
    request: CreateUserAndOrganizationRequest,
    options?: ReadOptions,
  ): Promise<CreatedOrganization>;
  listInstallations(options?: ListOptions): AsyncIterable<Page<Installation>>;
  readInstallation(installationId: string, options?: ReadOptions): Promise<Installation>;
  readInstallationOf(organizationId: string, options?: ReadOptions): Promise<Installation>;
}

export function createAppClient(options: AppClientOptions): AppClient {
  throw new RegistryError('unavailable', `not built yet: ${options.http.baseUrl}`);
}
