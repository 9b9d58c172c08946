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
} from './writes/request-bodies.js';
import type { RetirementQuery } from './writes/find-retirement.js';

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
  /** Sends requests for which there is no method. */
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

/** Acts as the app itself and authenticates with the app's JWT. Its calls need no permission of an organization. */
export interface AppClient {
  /** Requests a token for public data. The client does so itself when a call needs one. */
  createAppToken(options?: ReadOptions): Promise<AccessToken<AppToken>>;
  /** Requests a token with the permissions of an installation. The client does so itself when a call needs one. */
  createInstallationToken(
    installationId: string,
    options?: ReadOptions,
  ): Promise<AccessToken<InstallationToken>>;
  /**
   * Creates a user with an organization that has installed the app. Sent once: if the response is lost, the new installation
   * is searched for by the organization's name.
   */
  createUserAndOrganization(
    request: CreateUserAndOrganizationRequest,
    options?: ReadOptions,
  ): Promise<CreatedOrganization>;
  /** Lists the organizations that have installed the app. */
  listInstallations(options?: ListOptions): PagedList<Installation>;
  /** Reads one installation with its organization and permissions. */
  readInstallation(installationId: string, options?: ReadOptions): Promise<Installation>;
  /** Reads the app's installation on an organization. */
  readInstallationOf(organizationId: string, options?: ReadOptions): Promise<Installation>;
}

/** Acts for one organization, with the token of its installation. */
export interface OrganizationClient {
  /** Reads the organization's base information. Permission: organization_info:read. */
  readOrganization(options?: ReadOptions): Promise<Organization>;
  /** Lists the organization's public EVM addresses. Permission: organization_info:read. */
  listAddresses(options?: ReadOptions): AsyncIterable<Address>;
  /** Lists the stakeholders of the organization. Permission: organization_members:read. */
  listMembers(options?: ReadOptions): AsyncIterable<Member>;

  /** Lists the credits that apps may reserve. Permission: organization_warehouse:read. */
  listWarehouse(options?: ReadOptions): AsyncIterable<Credit>;
  /** Lists the credits outside the warehouse. Permission: organization_inventory:read. */
  listInventory(options?: ReadOptions): AsyncIterable<Credit>;

  /** Lists the reservations of all apps, ended ones included. Permission: organization_warehouse:read. */
  listReservations(options?: ListOptions): PagedList<Reservation>;
  /** Reads one reservation. Permission: organization_warehouse:read. */
  readReservation(reservationId: string, options?: ReadOptions): Promise<Reservation>;
  /**
   * Holds credits of the warehouse for ten minutes. Sent once: if the response is lost, the new reservation is searched for
   * in the list. Permission: organization_warehouse:write.
   */
  reserve(request: ReserveRequest, options?: ReadOptions): Promise<Reservation>;
  /**
   * Returns the credits to the warehouse. Resolves to the ended reservation, or to null if the registry no longer has it.
   * Permission: organization_warehouse:write.
   */
  cancelReservation(reservationId: string, options?: ReadOptions): Promise<Reservation | null>;
  /**
   * Transfers or retires the reserved credits. Resolves to the finished reservation, or to null if the registry no longer
   * has it. `findRetirement` finds the retirement. Permission: organization_warehouse:write.
   */
  finishReservation(
    reservationId: string,
    action: CreditAction,
    request: FinishRequest,
    options?: ReadOptions,
  ): Promise<Reservation | null>;

  /** Lists the requests to move or retire credits of the inventory. Permission: organization_inventory:read. */
  listInventoryRequests(options?: ListOptions): PagedList<InventoryRequest>;
  /** Reads one inventory request. Permission: organization_inventory:read. */
  readInventoryRequest(requestId: string, options?: ReadOptions): Promise<InventoryRequest>;
  /**
   * Asks an administrator to transfer or retire credits of the inventory. Sent once: if the response is lost, the new request
   * is searched for in the list. Permission: organization_inventory:read_request.
   */
  requestInventoryAction(
    action: CreditAction,
    request: InventoryActionRequest,
    options?: ReadOptions,
  ): Promise<InventoryRequest>;

  /** Lists the retirements of the organization. Permission: organization_info:read. */
  listRetirements(options?: ListOptions): PagedList<Retirement>;
  /** Reads one retirement. Permission: organization_info:read. */
  readRetirement(retirementId: string, options?: ReadOptions): Promise<Retirement>;
  /**
   * Finds the retirement that a finished reservation led to, because the response to `finishReservation` does not name it.
   * Waits up to five seconds for it to appear. Throws `not_found` if it does not appear, and `outcome_unknown` if several
   * retirements fit. Permission: organization_info:read.
   */
  findRetirement(query: RetirementQuery, options?: ReadOptions): Promise<Retirement>;
  /** Downloads the official PDF of a retirement. Permission: organization_info:read. */
  downloadCertificate(retirementId: string, options?: DownloadOptions): Promise<Download>;
}

/** Selects a project by one of its credits. Either the serial number or the id of the credit is enough. */
export interface ProjectQuery {
  /** The serial number, which the registry calls serialization. */
  readonly serialization?: string | undefined;
  readonly creditId?: string | undefined;
}

/** Makes the calls that any access token allows, whatever its permissions. */
export interface TokenClient {
  /** Lists all public projects. */
  listProjects(options?: ListOptions): PagedList<Project>;
  /** Finds the project that issued a credit. */
  findProject(query: ProjectQuery, options?: ReadOptions): Promise<Project>;
  /** Reads one public project. */
  readProject(projectId: string, options?: ReadOptions): Promise<Project>;
  /** Reads one retirement of any organization. */
  readRetirement(retirementId: string, options?: ReadOptions): Promise<Retirement>;
  /** Downloads the official PDF of a retirement of any organization. */
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
