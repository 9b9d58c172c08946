import { readBatches } from './pages/batches.js';
import type { Call, Http } from './http/calls.js';
import type { OrganizationClient } from './clients.js';
import type { InstallationToken, TokenSource } from './http/credential.js';
import { findRequests, findReservations, twinOf } from './writes/look-up.js';
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
import { type ListOptions, observed, type ReadOptions } from './reading.js';
import { finishBody, inventoryActionBody, reserveBody } from './writes/requests.js';
import { endReservation, readWritten } from './writes/reservation-end.js';
import { download, readAll, readOne } from './pages/single.js';

export interface OrganizationClientOptions {
  readonly http: Http;
  readonly organizationId: string;
  readonly token: TokenSource<InstallationToken>;
  /** Our own app: after a lost answer it tells our reservations from those of others. Null where it is not known. */
  readonly appId: string | null;
}

const ORGANIZATION = '/organizations/:organizationId';
const RESERVATIONS = `${ORGANIZATION}/warehouse/inventory/reservations`;
const REQUESTS = `${ORGANIZATION}/inventory/requests`;
const RETIREMENTS = `${ORGANIZATION}/retirements`;
const ONE_RESERVATION = { name: 'reservation', parse: parseReservation };
const ONE_REQUEST = { name: 'creditRequest', parse: parseInventoryRequest };
const byId = ({ id }: { readonly id: string }) => id;

export function createOrganizationClient(options: OrganizationClientOptions): OrganizationClient {
  const { http, organizationId, token, appId } = options;

  const to = (
    method: Call['method'],
    route: string,
    params: Readonly<Record<string, string>> = {},
  ): Call => ({
    method,
    route,
    params: { organizationId, ...params },
    token,
  });
  const get = (route: string, params?: Readonly<Record<string, string>>) => to('GET', route, params);

  function readCredits(route: string, read: ReadOptions = {}) {
    return readBatches({ http, call: get(route), key: 'credits', parse: parseCredit, organizationId }, read);
  }

  function listReservations(list?: ListOptions) {
    const call = get(RESERVATIONS);
    return listPages({ http, call, key: 'reservations', parse: parseReservation, organizationId }, list);
  }

  function listInventoryRequests(list?: ListOptions) {
    const call = get(REQUESTS);
    return listPages(
      { http, call, key: 'creditRequests', parse: parseInventoryRequest, organizationId },
      list,
    );
  }

  function readReservation(reservationId: string, read?: ReadOptions) {
    return readOne(
      http,
      get(`${RESERVATIONS}/:reservationId`, { reservationId }),
      { ...ONE_RESERVATION, id: reservationId },
      read,
    );
  }

  return {
    readOrganization: read =>
      readOne(
        http,
        get(ORGANIZATION),
        { name: 'organization', parse: parseOrganization, id: organizationId },
        read,
      ),
    readAddresses: read =>
      readAll(
        http,
        get(`${ORGANIZATION}/addresses`),
        { key: 'addresses', parse: parseAddress, organizationId },
        read,
      ),
    readMembers: read =>
      readAll(
        http,
        get(`${ORGANIZATION}/members`),
        { key: 'members', parse: parseMember, organizationId },
        read,
      ),

    readWarehouse: read => readCredits(`${ORGANIZATION}/warehouse/inventory`, read),
    readInventory: read => readCredits(`${ORGANIZATION}/inventory`, read),

    listReservations,
    readReservation,
    reserve: async (request, read = {}) =>
      writeOnce(http, {
        call: { ...to('POST', RESERVATIONS), body: reserveBody(request), ...observed(read) },
        read: answer => readWritten(answer, ONE_RESERVATION),
        lookUp: made => findReservations(listReservations(read), request, { appId, made }),
        newId: byId,
        twin: twinOf(request),
      }),
    cancelReservation: (reservationId, read = {}) =>
      endReservation(http, {
        call: { ...to('DELETE', `${RESERVATIONS}/:reservationId`, { reservationId }), ...observed(read) },
        reservationId,
        readNow: () => readReservation(reservationId, read),
        ended: ({ state }) => state?.toLowerCase() === 'cancelled',
      }),
    finishReservation: async (reservationId, action, request, read = {}) =>
      endReservation(http, {
        call: {
          ...to('POST', `${RESERVATIONS}/:reservationId/:action`, { reservationId, action }),
          body: finishBody(request),
          ...observed(read),
        },
        reservationId,
        readNow: () => readReservation(reservationId, read),
        ended: ({ isComplete, state }) => isComplete === true || state?.toLowerCase() === 'finished',
      }),

    listInventoryRequests,
    readInventoryRequest: (requestId, read) =>
      readOne(http, get(`${REQUESTS}/:requestId`, { requestId }), { ...ONE_REQUEST, id: requestId }, read),
    requestInventoryAction: async (action, request, read = {}) =>
      writeOnce(http, {
        call: {
          ...to('POST', `${REQUESTS}/:action`, { action }),
          body: inventoryActionBody(request),
          ...observed(read),
        },
        read: answer => readWritten(answer, ONE_REQUEST),
        lookUp: made => findRequests(listInventoryRequests(read), action, request, { appId, made }),
        newId: byId,
        twin: twinOf(request),
      }),

    listRetirements: list =>
      listPages(
        {
          http,
          call: get(RETIREMENTS),
          key: 'retirements',
          parse: parseRetirement,
          organizationId,
        },
        list,
      ),
    readRetirement: (retirementId, read) =>
      readOne(
        http,
        get(`${RETIREMENTS}/:retirementId`, { retirementId }),
        { name: 'retirement', parse: parseRetirement, id: retirementId },
        read,
      ),
    downloadCertificate: (retirementId, read) =>
      download(http, get(`${RETIREMENTS}/:retirementId/pdf`, { retirementId }), read),
  };
}
