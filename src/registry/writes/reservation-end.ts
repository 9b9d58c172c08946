import type { Answer, Call, Http } from '../http/calls.js';
import { RegistryError } from '../errors.js';
import { parseJson } from '../json/fields.js';
import type { Reservation } from '../model.js';
import { parseReservation } from '../json/parse.js';
import { writeOnce } from './once.js';
import { isSameId } from '../owner.js';
import { bodyText, readWritten } from '../pages/single.js';
import type { ReadOptions } from '../reading.js';

export interface Ending {
  readonly call: Call;
  readonly readNow: () => Promise<Reservation>;
  /** Whether a reservation looks as if this very call had ended it. */
  readonly ended: (reservation: Reservation) => boolean;
}

/** Finishes or cancels. The answer's shape is not known, so a reservation is only hoped for there. */
export function endReservation(
  http: Http,
  options: ReadOptions,
  { call, readNow, ended }: Ending,
): Promise<Reservation | null> {
  return writeOnce<Reservation | null>(http, options, {
    call,
    read: answer => readEnded(answer, call.params?.['reservationId'] ?? '') ?? unlessGone(readNow()),
    lookUp: async () => {
      const reservation = await unlessGone(readNow());
      if (reservation === null) return { candidates: [], certain: [] };
      return { candidates: [reservation], certain: ended(reservation) ? [reservation] : [] };
    },
  });
}

/** Any JSON, or nothing, says that the registry took it; a page of HTML is somebody else's answer. */
function readEnded(answer: Answer, reservationId: string): Reservation | null {
  const text = bodyText(answer);
  if (text !== '') parseJson(text, 'reservation');
  try {
    const reservation = readWritten(answer, { name: 'reservation', parse: parseReservation });
    return isSameId(reservation.id, reservationId) ? reservation : null;
  } catch (error) {
    if (error instanceof RegistryError) return null;
    throw error;
  }
}

async function unlessGone(reading: Promise<Reservation>): Promise<Reservation | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'not_found') return null;
    throw error;
  }
}
