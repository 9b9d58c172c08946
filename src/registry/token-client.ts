import type { AnyAccessToken, TokenSource } from './credential.js';
import { RegistryError } from './errors.js';
import type { Http } from './http.js';
import type { Credit, Project, Retirement } from './model.js';
import type { Download, ListOptions, Page, ReadOptions } from './reading.js';

export interface TokenClientOptions {
  readonly http: Http;
  readonly token: TokenSource<AnyAccessToken>;
}

/** Either alone is enough. */
export interface ProjectQuery {
  readonly serialization?: string;
  readonly creditId?: string;
}

/** What any access token may do, the app's or an installation's. */
export interface TokenClient {
  listProjects(options?: ListOptions): AsyncIterable<Page<Project>>;
  findProject(query: ProjectQuery, options?: ReadOptions): Promise<Project>;
  readProject(projectId: string, options?: ReadOptions): Promise<Project>;
  readRetirement(retirementId: string, options?: ReadOptions): Promise<Retirement>;
  downloadCertificate(retirementId: string, options?: ReadOptions): Promise<Download>;
  /** A sandbox deposits 100 credits. It is a GET that writes, so it is never repeated. */
  friendbot(organizationId: string, options?: ReadOptions): Promise<readonly Credit[]>;
  /** Ends the very token that this client sends. */
  revokeToken(options?: ReadOptions): Promise<void>;
}

export function createTokenClient(options: TokenClientOptions): TokenClient {
  throw new RegistryError('unavailable', `not built yet: ${options.http.baseUrl}`);
}
