import type { InstallationToken, TokenSource } from './credential.js';
import { RegistryError } from './errors.js';
import type { Http } from './http.js';
import type {
  Action,
  Address,
  Credit,
  InventoryRequest,
  Member,
  Organization,
  Reservation,
  Retirement,
} from './model.js';
import type { Download, ListOptions, Page, ReadOptions } from './reading.js';
import type { FinishRequest, InventoryActionRequest, ReserveRequest } from './requests.js';

export interface OrganizationClientOptions {
  readonly http: Http;
  readonly organizationId: string;
  readonly token: TokenSource<InstallationToken>;
  /** Our own app: after a lost answer it tells our reservations from those of others. */
  readonly appId: string;
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
  reserve(request: ReserveRequest, options?: ReadOptions): Promise<Reservation>;
  cancelReservation(reservationId: string, options?: ReadOptions): Promise<Reservation>;
  finishReservation(
    reservationId: string,
    action: Action,
    request: FinishRequest,
    options?: ReadOptions,
  ): Promise<Reservation>;

  listInventoryRequests(options?: ListOptions): AsyncIterable<Page<InventoryRequest>>;
  readInventoryRequest(requestId: string, options?: ReadOptions): Promise<InventoryRequest>;
  requestInventoryAction(
    action: Action,
    request: InventoryActionRequest,
    options?: ReadOptions,
  ): Promise<InventoryRequest>;

  listRetirements(options?: ListOptions): AsyncIterable<Page<Retirement>>;
  readRetirement(retirementId: string, options?: ReadOptions): Promise<Retirement>;
  downloadCertificate(retirementId: string, options?: ReadOptions): Promise<Download>;
}

export function createOrganizationClient(options: OrganizationClientOptions): OrganizationClient {
  throw new RegistryError('unavailable', `not built yet: ${options.http.baseUrl}`);
}
