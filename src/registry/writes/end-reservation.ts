import type { HttpClient, HttpRequest, HttpResponse } from '../http/http-types.js';
import { RegistryError } from '../errors.js';
import { parseJson } from '../json/json-object.js';
import type { Reservation } from '../object-models.js';
import { parseReservation } from '../json/parse-objects.js';
import { writeOnce } from './write-once.js';
import { isSameId } from '../pages/list-owner.js';
import { decodeBody, parseResponseObject } from '../pages/single-response.js';
import type { ReadOptions } from '../read-types.js';

/** A request that ends a reservation, and how to check its result. */
export interface ReservationEndRequest {
  readonly request: HttpRequest;
  readonly readReservation: () => Promise<Reservation>;
  /** Whether the reservation is in the state that the request leads to. */
  readonly isEnded: (reservation: Reservation) => boolean;
}

/**
 * Finishes or cancels a reservation. Returns the ended reservation, or null if the registry no longer has it. If the
 * response is lost, reads the reservation and checks it with `isEnded`.
 */
export function endReservation(
  http: HttpClient,
  options: ReadOptions,
  { request, readReservation, isEnded }: ReservationEndRequest,
): Promise<Reservation | null> {
  const reservationId = request.params?.['reservationId'] ?? '';
  return writeOnce<Reservation | null>(http, options, {
    request,
    // The response format is not documented, so the reservation is read unless the response contains it.
    parseResponse: response =>
      parseEndedReservation(response, reservationId) ?? awaitOrNull(readReservation()),
    lookUp: async () => {
      const reservation = await awaitOrNull(readReservation());
      if (reservation === null) return { candidates: [], certain: [] };
      return { candidates: [reservation], certain: isEnded(reservation) ? [reservation] : [] };
    },
  });
}

/**
 * Parses the reservation in a response. Returns null if the response has no readable reservation with this id, and throws if the
 * response is not JSON.
 */
function parseEndedReservation(response: HttpResponse, reservationId: string): Reservation | null {
  // A body that is not JSON comes from something in between, such as a proxy that sends HTML.
  const text = decodeBody(response);
  if (text !== '') parseJson(text, 'reservation');
  try {
    const reservation = parseResponseObject(response, { name: 'reservation', parse: parseReservation });
    return isSameId(reservation.id, reservationId) ? reservation : null;
  } catch (error) {
    if (error instanceof RegistryError) return null;
    throw error;
  }
}

/** Awaits the read of a reservation. Returns null if the read failed with `not_found`. */
async function awaitOrNull(pendingReservation: Promise<Reservation>): Promise<Reservation | null> {
  try {
    return await pendingReservation;
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'not_found') return null;
    throw error;
  }
}
