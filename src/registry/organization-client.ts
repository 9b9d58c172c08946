import { readBatches } from './pages/batches.js';
import type { Call, Http } from './http/calls.js';
import type { OrganizationClient } from './clients.js';
import type { InstallationToken, TokenSource } from './http/credential.js';
import type { Source } from './json/fields.js';
import { collect, type Judge, judgeRequest, judgeReservation, twinOf } from './writes/look-up.js';
import { writeOnce } from './writes/once.js';
import { listPages } from './pages/pages.js';
import {
  parseAddress,
  parseCredit,
  parseInventoryRequest,
  parseMember,
  parseOrganization,
  parseReservation,
  parseRetirement,
} from './json/parse.js';
import type { ListOptions, Page, ReadOptions } from './reading.js';
import { finishBody, inventoryActionBody, reserveBody, type ReserveRequest } from './writes/requests.js';
import { endReservation } from './writes/reservation-end.js';
import { download, type One, readAll, readOne, readWritten } from './pages/single.js';

export interface OrganizationClientOptions {
  readonly http: Http;
  readonly organizationId: string;
  readonly token: TokenSource<InstallationToken>;
  /** Our own app: after a lost answer it tells our reservations from those of others. Null where it is not known. */
  readonly appId: string | null;
}

const ORGANIZATION = '/organizations/:organizationId';
const RESERVATIONS = `${ORGANIZATION}/warehouse/inventory/reservations`;
const RESERVATION = `${RESERVATIONS}/:reservationId`;
const REQUESTS = `${ORGANIZATION}/inventory/requests`;
const RETIREMENTS = `${ORGANIZATION}/retirements`;
const ONE_ORGANIZATION = { name: 'organization', parse: parseOrganization };
const ONE_RESERVATION = { name: 'reservation', parse: parseReservation };
const ONE_REQUEST = { name: 'creditRequest', parse: parseInventoryRequest };
const ONE_RETIREMENT = { name: 'retirement', parse: parseRetirement };

type Params = Readonly<Record<string, string>>;
type Parse<T> = (source: Source) => T;

/** A write of credits that makes something new, and how that is found in its list. */
interface Making<T> {
  readonly call: Call;
  readonly request: ReserveRequest;
  readonly what: One<T>;
  readonly pages: (options: ListOptions) => AsyncIterable<Page<T>>;
  readonly judge: Judge<T>;
}

export function createOrganizationClient(options: OrganizationClientOptions): OrganizationClient {
  const { http, organizationId, token, appId } = options;

  const to = (method: Call['method'], route: string, params: Params = {}, body?: string): Call => ({
    method,
    route,
    params: { organizationId, ...params },
    token,
    ...(body === undefined ? {} : { body }),
  });
  const get = (route: string, params?: Params) => to('GET', route, params);
  const list =
    <T>(route: string, key: string, parse: Parse<T>) =>
    (read?: ListOptions) =>
      listPages({ http, call: get(route), key, parse, organizationId }, read);
  const short =
    <T>(key: string, parse: Parse<T>) =>
    (read?: ReadOptions) =>
      readAll(http, get(`${ORGANIZATION}/${key}`), { key, parse, organizationId }, read);
  const credits = (route: string) => (read?: ReadOptions) =>
    readBatches({ http, call: get(route), key: 'credits', parse: parseCredit, organizationId }, read);
  /** By the last name in its route. */
  const one =
    <T extends { readonly id: string }>(route: string, what: One<T>) =>
    (id: string, read?: ReadOptions) =>
      readOne(http, get(route, { [route.slice(route.lastIndexOf(':') + 1)]: id }), { ...what, id }, read);
  const make = <T extends { readonly id: string }>(read: ReadOptions, made: Making<T>) =>
    writeOnce(http, read, {
      call: made.call,
      read: answer => readWritten(answer, made.what),
      lookUp: since => collect(made.pages(read), item => made.judge(item, { appId, since })),
      newId: ({ id }) => id,
      twin: twinOf(made.request),
    });

  const listReservations = list(RESERVATIONS, 'reservations', parseReservation);
  const readReservation = one(RESERVATION, ONE_RESERVATION);
  const listInventoryRequests = list(REQUESTS, 'creditRequests', parseInventoryRequest);

  return {
    readOrganization: read => one(ORGANIZATION, ONE_ORGANIZATION)(organizationId, read),
    readAddresses: short('addresses', parseAddress),
    readMembers: short('members', parseMember),

    readWarehouse: credits(`${ORGANIZATION}/warehouse/inventory`),
    readInventory: credits(`${ORGANIZATION}/inventory`),

    listReservations,
    readReservation,
    reserve: async (request, read = {}) =>
      make(read, {
        call: to('POST', RESERVATIONS, {}, reserveBody(request)),
        request,
        what: ONE_RESERVATION,
        pages: listReservations,
        judge: judgeReservation(request),
      }),
    cancelReservation: (reservationId, read = {}) =>
      endReservation(http, read, {
        call: to('DELETE', RESERVATION, { reservationId }),
        readNow: () => readReservation(reservationId, read),
        ended: ({ state }) => state?.toLowerCase() === 'cancelled',
      }),
    finishReservation: async (reservationId, action, request, read = {}) =>
      endReservation(http, read, {
        call: to('POST', `${RESERVATION}/:action`, { reservationId, action }, finishBody(request)),
        readNow: () => readReservation(reservationId, read),
        ended: ({ isComplete, state }) => isComplete === true || state?.toLowerCase() === 'finished',
      }),

    listInventoryRequests,
    readInventoryRequest: one(`${REQUESTS}/:requestId`, ONE_REQUEST),
    requestInventoryAction: async (action, request, read = {}) =>
      make(read, {
        call: to('POST', `${REQUESTS}/:action`, { action }, inventoryActionBody(request)),
        request,
        what: ONE_REQUEST,
        pages: listInventoryRequests,
        judge: judgeRequest(action, request),
      }),

    listRetirements: list(RETIREMENTS, 'retirements', parseRetirement),
    readRetirement: one(`${RETIREMENTS}/:retirementId`, ONE_RETIREMENT),
    downloadCertificate: (retirementId, read) =>
      download(http, get(`${RETIREMENTS}/:retirementId/pdf`, { retirementId }), read),
  };
}
