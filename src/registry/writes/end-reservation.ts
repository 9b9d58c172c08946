import type { HttpClient, HttpRequest, HttpResponse } from '../http/http-types.js';
import { RegistryError } from '../errors.js';
import { parseJson } from '../json/json-object.js';
import type { Reservation } from '../model.js';
import { parseReservation } from '../json/parse-objects.js';
import { writeOnce } from './write-once.js';
import { isSameId } from '../list-owner.js';
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
 * Finishes or cancels a reservation and returns it; null if the registry no longer shows it. The response format is not
 * documented, so the reservation is read again unless the response contains it.
 */
export function endReservation(
  http: HttpClient,
  options: ReadOptions,
  { request, readReservation, isEnded }: ReservationEndRequest,
): Promise<Reservation | null> {
  const reservationId = request.params?.['reservationId'] ?? '';
  return writeOnce<Reservation | null>(http, options, {
    request,
    parseResponse: response =>
      parseEndedReservation(response, reservationId) ?? nullIfNotFound(readReservation()),
    lookUp: async () => {
      const reservation = await nullIfNotFound(readReservation());
      if (reservation === null) return { candidates: [], certain: [] };
      return { candidates: [reservation], certain: isEnded(reservation) ? [reservation] : [] };
    },
  });
}

/**
 * Returns the reservation in a response; null if there is none. Any JSON or an empty body means that the registry
 * accepted the request. Other bodies throw, because they come from something in between, such as a proxy that sends
 * HTML.
 */
function parseEndedReservation(response: HttpResponse, reservationId: string): Reservation | null {
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

/** Awaits a reservation; null if the registry has none with this id. */
async function nullIfNotFound(reading: Promise<Reservation>): Promise<Reservation | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'not_found') return null;
    throw error;
  }
}
