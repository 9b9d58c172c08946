import type { Http } from './http/calls.js';
import type { AccessToken, AppToken, InstallationToken } from './http/credential.js';
import type {
  Action,
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
import type { Download, DownloadOptions, ListOptions, Page, ReadOptions } from './reading.js';
import type {
  CreateUserAndOrganizationRequest,
  FinishRequest,
  InventoryActionRequest,
  ReserveRequest,
} from './writes/requests.js';

/** What creating a user and an organization answers. A lost answer that was found again knows no user. */
export interface CreatedOrganization {
  readonly user: User | null;
  readonly organization: Organization | null;
  readonly installation: Installation;
}

/** The registry as one app sees it. All parts share one budget of calls. */
export interface RegistryClient {
  readonly http: Http;
  /** What the app does as itself. */
  readonly app: AppClient;
  /** What any access token may do, with the app's own. */
  readonly token: TokenClient;
  /** The same with an installation's token; `revokeToken` ends that one. */
  installation(installationId: string): TokenClient;
  /** What an installation allows the app to do for its organization. */
  organization(installationId: string, organizationId: string): OrganizationClient;
}

/** What the app does as itself, with its JWT. */
export interface AppClient {
  createAppToken(options?: ReadOptions): Promise<AccessToken<AppToken>>;
  createInstallationToken(
    installationId: string,
    options?: ReadOptions,
  ): Promise<AccessToken<InstallationToken>>;
  /** Never repeated. A lost answer is looked for among the installations, by the organization's name. */
  createUserAndOrganization(
    request: CreateUserAndOrganizationRequest,
    options?: ReadOptions,
  ): Promise<CreatedOrganization>;
  listInstallations(options?: ListOptions): AsyncIterable<Page<Installation>>;
  readInstallation(installationId: string, options?: ReadOptions): Promise<Installation>;
  readInstallationOf(organizationId: string, options?: ReadOptions): Promise<Installation>;
}

/** What the app does for one organization, with an installation token. */
export interface OrganizationClient {
  readOrganization(options?: ReadOptions): Promise<Organization>;
  readAddresses(options?: ReadOptions): Promise<readonly Address[]>;
  readMembers(options?: ReadOptions): Promise<readonly Member[]>;

  /** One long answer, cut into batches as it arrives. It is complete only when the walk ends without an error. */
  readWarehouse(options?: ReadOptions): AsyncIterable<readonly Credit[]>;
  readInventory(options?: ReadOptions): AsyncIterable<readonly Credit[]>;

  listReservations(options?: ListOptions): AsyncIterable<Page<Reservation>>;
  readReservation(reservationId: string, options?: ReadOptions): Promise<Reservation>;
  /** Never repeated, and neither are the next three: a lost answer is looked up. */
  reserve(request: ReserveRequest, options?: ReadOptions): Promise<Reservation>;
  /** Null where the registry took it and shows the reservation no more. */
  cancelReservation(reservationId: string, options?: ReadOptions): Promise<Reservation | null>;
  finishReservation(
    reservationId: string,
    action: Action,
    request: FinishRequest,
    options?: ReadOptions,
  ): Promise<Reservation | null>;

  listInventoryRequests(options?: ListOptions): AsyncIterable<Page<InventoryRequest>>;
  readInventoryRequest(requestId: string, options?: ReadOptions): Promise<InventoryRequest>;
  requestInventoryAction(
    action: Action,
    request: InventoryActionRequest,
    options?: ReadOptions,
  ): Promise<InventoryRequest>;

  listRetirements(options?: ListOptions): AsyncIterable<Page<Retirement>>;
  readRetirement(retirementId: string, options?: ReadOptions): Promise<Retirement>;
  downloadCertificate(retirementId: string, options?: DownloadOptions): Promise<Download>;
}

/** Either alone is enough. */
export interface ProjectQuery {
  readonly serialization?: string | undefined;
  readonly creditId?: string | undefined;
}

/** What any access token may do, the app's or an installation's. */
export interface TokenClient {
  listProjects(options?: ListOptions): AsyncIterable<Page<Project>>;
  findProject(query: ProjectQuery, options?: ReadOptions): Promise<Project>;
  readProject(projectId: string, options?: ReadOptions): Promise<Project>;
  readRetirement(retirementId: string, options?: ReadOptions): Promise<Retirement>;
  downloadCertificate(retirementId: string, options?: DownloadOptions): Promise<Download>;
  /**
   * A sandbox deposits 100 credits. It is a GET that writes, so it is never repeated;
   * a deposit has no mark to find it by, so a lost answer is always `outcome_unknown`.
   * Answers the credits that the registry shows, which may be none.
   */
  friendbot(organizationId: string, options?: ReadOptions): Promise<readonly Credit[]>;
  /** Ends the very token that this client sends. */
  revokeToken(options?: ReadOptions): Promise<void>;
}
