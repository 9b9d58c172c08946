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
} from './object-models.js';
import type { Download, DownloadOptions, ListOptions, PagedList, ReadOptions } from './read-types.js';
import type {
  CreateUserAndOrganizationRequest,
  FinishRequest,
  InventoryActionRequest,
  ReserveRequest,
} from './writes/requests.js';

/**
 * The result of creating a user and an organization. `user` is null if the response was lost and the installation was
 * looked up.
 */
export interface CreatedOrganization {
  readonly user: User | null;
  readonly organization: Organization | null;
  readonly installation: Installation;
}

/** All clients of one app. They share one rate limit. */
export interface RegistryClient {
  readonly http: HttpClient;
  /** Acts as the app itself. */
  readonly app: AppClient;
  /** Makes the calls that any access token allows, with the app's own token. */
  readonly token: TokenClient;
  /** Makes the calls that any access token allows, with the token of an installation. */
  installation(installationId: string): TokenClient;
  /** Acts for the organization of an installation, within the installation's permissions. */
  organization(installationId: string, organizationId: string): OrganizationClient;
}

/** Acts as the app itself and authenticates with the app's JWT. */
export interface AppClient {
  createAppToken(options?: ReadOptions): Promise<AccessToken<AppToken>>;
  createInstallationToken(
    installationId: string,
    options?: ReadOptions,
  ): Promise<AccessToken<InstallationToken>>;
  /** Sends the request once. If the response is lost, searches for the new installation by the organization's name. */
  createUserAndOrganization(
    request: CreateUserAndOrganizationRequest,
    options?: ReadOptions,
  ): Promise<CreatedOrganization>;
  listInstallations(options?: ListOptions): PagedList<Installation>;
  readInstallation(installationId: string, options?: ReadOptions): Promise<Installation>;
  /** Reads the app's installation on an organization. */
  readInstallationOf(organizationId: string, options?: ReadOptions): Promise<Installation>;
}

/** Acts for one organization, with the token of its installation. */
export interface OrganizationClient {
  readOrganization(options?: ReadOptions): Promise<Organization>;
  listAddresses(options?: ReadOptions): AsyncIterable<Address>;
  listMembers(options?: ReadOptions): AsyncIterable<Member>;

  listWarehouse(options?: ReadOptions): AsyncIterable<Credit>;
  listInventory(options?: ReadOptions): AsyncIterable<Credit>;

  listReservations(options?: ListOptions): PagedList<Reservation>;
  readReservation(reservationId: string, options?: ReadOptions): Promise<Reservation>;
  /** Sends the request once. If the response is lost, searches for the new reservation in the list. */
  reserve(request: ReserveRequest, options?: ReadOptions): Promise<Reservation>;
  /** Returns the ended reservation, or null if the registry no longer has it. */
  cancelReservation(reservationId: string, options?: ReadOptions): Promise<Reservation | null>;
  finishReservation(
    reservationId: string,
    action: CreditAction,
    request: FinishRequest,
    options?: ReadOptions,
  ): Promise<Reservation | null>;

  listInventoryRequests(options?: ListOptions): PagedList<InventoryRequest>;
  readInventoryRequest(requestId: string, options?: ReadOptions): Promise<InventoryRequest>;
  requestInventoryAction(
    action: CreditAction,
    request: InventoryActionRequest,
    options?: ReadOptions,
  ): Promise<InventoryRequest>;

  listRetirements(options?: ListOptions): PagedList<Retirement>;
  readRetirement(retirementId: string, options?: ReadOptions): Promise<Retirement>;
  downloadCertificate(retirementId: string, options?: DownloadOptions): Promise<Download>;
}

/** Selects a project by one of its credits. Either the credit's serialization or its id is enough. */
export interface ProjectQuery {
  readonly serialization?: string | undefined;
  readonly creditId?: string | undefined;
}

/** Makes the calls that any access token allows, whether it is the app's or an installation's. */
export interface TokenClient {
  listProjects(options?: ListOptions): PagedList<Project>;
  findProject(query: ProjectQuery, options?: ReadOptions): Promise<Project>;
  readProject(projectId: string, options?: ReadOptions): Promise<Project>;
  readRetirement(retirementId: string, options?: ReadOptions): Promise<Retirement>;
  downloadCertificate(retirementId: string, options?: DownloadOptions): Promise<Download>;
  /**
   * Deposits 100 credits; only a sandbox registry offers this. Returns the credits that the response shows, which may be
   * none. The request is a GET that writes, so it is sent once. A deposit cannot be looked up afterwards, so a lost
   * response always throws `outcome_unknown`.
   */
  friendbot(organizationId: string, options?: ReadOptions): Promise<readonly Credit[]>;
  /** Revokes the token that this client sends. */
  revokeToken(options?: ReadOptions): Promise<void>;
}
