import type { HttpClient } from './http/http-types.js';
import type { AccessToken, AppToken, InstallationToken } from './http/credential.js';
import type {
  CreditAction,
  Address,
  Credit,
  Installation,
  InventoryRequest,
  Member,
  Organization,
  Project,
  Reservation,
  Retirement,
  User,
} from './model.js';
import type { Download, DownloadOptions, ListOptions, ListPage, ReadOptions } from './read-types.js';
import type {
  CreateUserAndOrganizationRequest,
  FinishRequest,
  InventoryActionRequest,
  ReserveRequest,
} from './writes/requests.js';

/** The result of creating a user and an organization. `user` is null if the answer was lost and the rest was found afterwards. */
export interface CreatedOrganization {
  readonly user: User | null;
  readonly organization: Organization | null;
  readonly installation: Installation;
}

/** All clients of one app. They share one limit of requests. */
export interface RegistryClient {
  readonly http: HttpClient;
  /** Acts as the app itself. */
  readonly app: AppClient;
  /** Does what any access token allows, with the app's own token. */
  readonly token: TokenClient;
  /** The same with the token of an installation, which is also the one that `revokeToken` revokes. */
  installation(installationId: string): TokenClient;
  /** Acts for the organization of an installation, as far as its permissions allow. */
  organization(installationId: string, organizationId: string): OrganizationClient;
}

/** Acts as the app itself, with its JWT. */
export interface AppClient {
  createAppToken(options?: ReadOptions): Promise<AccessToken<AppToken>>;
  createInstallationToken(
    installationId: string,
    options?: ReadOptions,
  ): Promise<AccessToken<InstallationToken>>;
  /** Is sent once. If the answer is lost, the new installation is searched by the organization's name. */
  createUserAndOrganization(
    request: CreateUserAndOrganizationRequest,
    options?: ReadOptions,
  ): Promise<CreatedOrganization>;
  listInstallations(options?: ListOptions): AsyncIterable<ListPage<Installation>>;
  readInstallation(installationId: string, options?: ReadOptions): Promise<Installation>;
  readInstallationOf(organizationId: string, options?: ReadOptions): Promise<Installation>;
}

/** Acts for one organization, with the token of its installation. */
export interface OrganizationClient {
  readOrganization(options?: ReadOptions): Promise<Organization>;
  readAddresses(options?: ReadOptions): Promise<readonly Address[]>;
  readMembers(options?: ReadOptions): Promise<readonly Member[]>;

  /** Reads one long answer in batches, as it arrives. It is complete only if the iteration ends without an error. */
  readWarehouse(options?: ReadOptions): AsyncIterable<readonly Credit[]>;
  readInventory(options?: ReadOptions): AsyncIterable<readonly Credit[]>;

  listReservations(options?: ListOptions): AsyncIterable<ListPage<Reservation>>;
  readReservation(reservationId: string, options?: ReadOptions): Promise<Reservation>;
  /** Is sent once, as are all writes. If the answer is lost, the new reservation is searched in the list. */
  reserve(request: ReserveRequest, options?: ReadOptions): Promise<Reservation>;
  /** Returns the ended reservation; null if the registry accepted the request and no longer shows the reservation. */
  cancelReservation(reservationId: string, options?: ReadOptions): Promise<Reservation | null>;
  finishReservation(
    reservationId: string,
    action: CreditAction,
    request: FinishRequest,
    options?: ReadOptions,
  ): Promise<Reservation | null>;

  listInventoryRequests(options?: ListOptions): AsyncIterable<ListPage<InventoryRequest>>;
  readInventoryRequest(requestId: string, options?: ReadOptions): Promise<InventoryRequest>;
  requestInventoryAction(
    action: CreditAction,
    request: InventoryActionRequest,
    options?: ReadOptions,
  ): Promise<InventoryRequest>;

  listRetirements(options?: ListOptions): AsyncIterable<ListPage<Retirement>>;
  readRetirement(retirementId: string, options?: ReadOptions): Promise<Retirement>;
  downloadCertificate(retirementId: string, options?: DownloadOptions): Promise<Download>;
}

/** Finds a project by one of its credits. One of the two is enough. */
export interface ProjectQuery {
  readonly serialization?: string | undefined;
  readonly creditId?: string | undefined;
}

/** Does what any access token allows, be it the app's or an installation's. */
export interface TokenClient {
  listProjects(options?: ListOptions): AsyncIterable<ListPage<Project>>;
  findProject(query: ProjectQuery, options?: ReadOptions): Promise<Project>;
  readProject(projectId: string, options?: ReadOptions): Promise<Project>;
  readRetirement(retirementId: string, options?: ReadOptions): Promise<Retirement>;
  downloadCertificate(retirementId: string, options?: DownloadOptions): Promise<Download>;
  /**
   * Deposits 100 credits, in a sandbox only. Returns the credits that the registry shows, which may be none.
   * It is a GET that writes, so it is sent once. A deposit cannot be recognized afterwards, so a lost answer
   * is always `outcome_unknown`.
   */
  friendbot(organizationId: string, options?: ReadOptions): Promise<readonly Credit[]>;
  /** Revokes the token that this client sends. */
  revokeToken(options?: ReadOptions): Promise<void>;
}
