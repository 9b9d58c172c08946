import { readBatches } from './pages/read-batches.js';
import type { HttpClient, HttpRequest, RouteParams } from './http/http-types.js';
import type { OrganizationClient } from './client-types.js';
import type { InstallationToken, TokenSource } from './http/credential.js';
import type { ObjectParser } from './json/json-object.js';
import {
  getDuplicateKey,
  findMatches,
  createInventoryRequestMatcher,
  createReservationMatcher,
  type WriteMatcher,
} from './writes/lost-write-match.js';
import { writeOnce } from './writes/write-once.js';
import { readPages } from './pages/read-pages.js';
import {
  parseAddress,
  parseCredit,
  parseInventoryRequest,
  parseMember,
  parseOrganization,
  parseReservation,
  parseRetirement,
} from './json/parse-objects.js';
import type { ListOptions, PagedList, ReadOptions } from './read-types.js';
import { createBatchedList, createPagedList, observePages } from './pages/paged-lists.js';
import {
  formatFinishBody,
  formatInventoryActionBody,
  formatReserveBody,
  type ReserveRequest,
} from './writes/request-bodies.js';
import { findRetirement } from './writes/find-retirement.js';
import { endReservation } from './writes/end-reservation.js';
import {
  type ObjectFormat,
  openDownload,
  parseResponseObject,
  readObject,
  readShortList,
} from './pages/single-response.js';

export interface OrganizationClientOptions {
  readonly http: HttpClient;
  readonly organizationId: string;
  readonly token: TokenSource<InstallationToken>;
  /** The app that sends the requests. It identifies our reservations when a response was lost. Null if unknown. */
  readonly appId: string | null;
}

const ORGANIZATION = '/organizations/:organizationId';
const RESERVATIONS = `${ORGANIZATION}/warehouse/inventory/reservations`;
const RESERVATION = `${RESERVATIONS}/:reservationId`;
const REQUESTS = `${ORGANIZATION}/inventory/requests`;
const RETIREMENTS = `${ORGANIZATION}/retirements`;
const ORGANIZATION_FORMAT = { name: 'organization', parse: parseOrganization };
const RESERVATION_FORMAT = { name: 'reservation', parse: parseReservation };
const REQUEST_FORMAT = { name: 'creditRequest', parse: parseInventoryRequest };
const RETIREMENT_FORMAT = { name: 'retirement', parse: parseRetirement };

/** A write that creates an object, and how to find that object in its list if the response is lost. */
interface CreditWrite<T> {
  readonly request: HttpRequest;
  readonly creditAmount: ReserveRequest;
  readonly format: ObjectFormat<T>;
  readonly list: (options: ListOptions) => PagedList<T>;
  readonly match: WriteMatcher<T>;
}

/** Creates the client for one organization's data. */
export function createOrganizationClient(options: OrganizationClientOptions): OrganizationClient {
  const { http, organizationId, token, appId } = options;

  /** Creates a request to the registry that carries the client's access token and the organization's id. */
  function createRequest(
    method: HttpRequest['method'],
    route: string,
    params: RouteParams = {},
    body?: string,
  ): HttpRequest {
    const request = { method, route, params: { organizationId, ...params }, token };
    return body === undefined ? request : { ...request, body };
  }

  function createGetRequest(route: string, params?: RouteParams): HttpRequest {
    return createRequest('GET', route, params);
  }

  /** Creates a client method that reads a paged list. */
  function createListReader<T>(route: string, arrayName: string, parse: ObjectParser<T>) {
    const source = { http, request: createGetRequest(route), key: arrayName, parse, organizationId };
    return (listOptions?: ListOptions) =>
      createPagedList(observation => readPages(source, { ...listOptions, ...observation }));
  }

  /** Creates a client method that reads a list without pagination. */
  function createShortListReader<T>(arrayName: string, parse: ObjectParser<T>) {
    const request = createGetRequest(`${ORGANIZATION}/${arrayName}`);
    const format = { key: arrayName, parse, organizationId };
    return (readOptions?: ReadOptions) =>
      createBatchedList(observation =>
        readShortList(http, request, format, { ...readOptions, ...observation }),
      );
  }

  /** Creates a client method that reads the credits of a warehouse or an inventory in batches. */
  function createCreditsReader(route: string) {
    const list = {
      http,
      request: createGetRequest(route),
      key: 'credits',
      parse: parseCredit,
      organizationId,
    };
    return (readOptions?: ReadOptions) =>
      createBatchedList(observation => readBatches(list, { ...readOptions, ...observation }));
  }

  /** Creates a client method that reads one object by its id. */
  function createObjectReader<T extends { readonly id: string }>(route: string, format: ObjectFormat<T>) {
    const idName = route.slice(route.lastIndexOf(':') + 1);
    return (id: string, readOptions?: ReadOptions) =>
      readObject(http, createGetRequest(route, { [idName]: id }), { ...format, id }, readOptions);
  }

  /**
   * Creates an object of the registry, such as a reservation, with a single request. If the response is lost, searches the list
   * of these objects for the new one.
   */
  function createObjectOnce<T extends { readonly id: string }>(
    readOptions: ReadOptions,
    { request, creditAmount, format, list, match }: CreditWrite<T>,
  ): Promise<T> {
    return writeOnce(http, readOptions, {
      request,
      parseResponse: response => parseResponseObject(response, format),
      lookUp: isCreatedSinceWrite =>
        findMatches(observePages(list(readOptions)), object => match(object, { appId, isCreatedSinceWrite })),
      getCreatedId: ({ id }) => id,
      duplicateKey: getDuplicateKey(creditAmount),
    });
  }

  const listReservations = createListReader(RESERVATIONS, 'reservations', parseReservation);
  const readReservation = createObjectReader(RESERVATION, RESERVATION_FORMAT);
  const listInventoryRequests = createListReader(REQUESTS, 'creditRequests', parseInventoryRequest);
  const listRetirements = createListReader(RETIREMENTS, 'retirements', parseRetirement);
  const readOrganization = createObjectReader(ORGANIZATION, ORGANIZATION_FORMAT);

  return {
    readOrganization: readOptions => readOrganization(organizationId, readOptions),
    listAddresses: createShortListReader('addresses', parseAddress),
    listMembers: createShortListReader('members', parseMember),

    listWarehouse: createCreditsReader(`${ORGANIZATION}/warehouse/inventory`),
    listInventory: createCreditsReader(`${ORGANIZATION}/inventory`),

    listReservations,
    readReservation,
    reserve: async (reserveRequest, readOptions = {}) =>
      createObjectOnce(readOptions, {
        request: createRequest('POST', RESERVATIONS, {}, formatReserveBody(reserveRequest)),
        creditAmount: reserveRequest,
        format: RESERVATION_FORMAT,
        list: listReservations,
        match: createReservationMatcher(reserveRequest),
      }),
    cancelReservation: (reservationId, readOptions = {}) =>
      endReservation(http, readOptions, {
        request: createRequest('DELETE', RESERVATION, { reservationId }),
        readReservation: () => readReservation(reservationId, readOptions),
        isEnded: ({ state }) => state?.toLowerCase() === 'cancelled',
      }),
    finishReservation: async (reservationId, action, request, readOptions = {}) =>
      endReservation(http, readOptions, {
        request: createRequest(
          'POST',
          `${RESERVATION}/:action`,
          { reservationId, action },
          formatFinishBody(request),
        ),
        readReservation: () => readReservation(reservationId, readOptions),
        isEnded: ({ isComplete, state }) => isComplete === true || state?.toLowerCase() === 'finished',
      }),

    listInventoryRequests,
    readInventoryRequest: createObjectReader(`${REQUESTS}/:requestId`, REQUEST_FORMAT),
    requestInventoryAction: async (action, actionRequest, readOptions = {}) =>
      createObjectOnce(readOptions, {
        request: createRequest(
          'POST',
          `${REQUESTS}/:action`,
          { action },
          formatInventoryActionBody(actionRequest),
        ),
        creditAmount: actionRequest,
        format: REQUEST_FORMAT,
        list: listInventoryRequests,
        match: createInventoryRequestMatcher(action, actionRequest),
      }),

    listRetirements,
    readRetirement: createObjectReader(`${RETIREMENTS}/:retirementId`, RETIREMENT_FORMAT),
    findRetirement: (query, readOptions) => findRetirement(http, listRetirements, query, readOptions),
    downloadCertificate: (retirementId, readOptions) =>
      openDownload(http, createGetRequest(`${RETIREMENTS}/:retirementId/pdf`, { retirementId }), readOptions),
  };
}
