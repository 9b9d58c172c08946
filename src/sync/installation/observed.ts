import type { Resource } from '../plan.js';
import type { ReadEnd } from '../read/read-end.js';
import type { Noted } from '../read/step.js';

/** What one sync has come to know. */
export interface Observed {
  /** What went wrong with each resource that could not be read. */
  readonly failures: Map<Resource, unknown>;
  /** What the registry says is not there. It counts only where other lists of the organization are answered. */
  readonly absent: Map<Resource, unknown>;
  /** Whether one of them was. */
  answered: boolean;
  /** When the next outstanding reservation ends, by the registry's clock. */
  reservationEnd: number | null;
  /** Rows came, changed or went. */
  news: boolean;
  /** Retirements came or changed: there may be certificates to fetch. */
  retired: boolean;
}

export function createObserved(): Observed {
  return {
    failures: new Map(),
    absent: new Map(),
    answered: false,
    reservationEnd: null,
    news: false,
    retired: false,
  };
}

export function notedIn(observed: Observed, onRead: ((end: ReadEnd) => void) | undefined): Noted {
  return {
    before: new Map(),
    ended: end => {
      const rows = end.added + end.changed;
      observed.news ||= rows + end.removed > 0;
      observed.retired ||= end.resource === 'retirements' && rows > 0;
      onRead?.(end);
    },
    reservationEnds: at => {
      observed.reservationEnd = Math.min(observed.reservationEnd ?? at, at);
    },
  };
}
