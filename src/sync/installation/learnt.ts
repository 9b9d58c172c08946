import type { Resource } from '../plan.js';
import type { ReadEnd } from '../read/read-end.js';
import type { Noted } from '../read/step.js';

/** What one look has come to know. */
export interface Learnt {
  /** What went wrong with each resource that could not be read. */
  readonly failures: Map<Resource, unknown>;
  /** What the registry says is not there. It counts only where other lists of the organization are answered. */
  readonly absent: Map<Resource, unknown>;
  /** Whether one of them was. */
  answered: boolean;
  /** When the next outstanding hold ends, by the registry's clock. */
  holdEnd: number | null;
  /** Rows came, changed or went. */
  news: boolean;
  /** Retirements came or changed: there may be certificates to fetch. */
  retired: boolean;
}

export function createLearnt(): Learnt {
  return {
    failures: new Map(),
    absent: new Map(),
    answered: false,
    holdEnd: null,
    news: false,
    retired: false,
  };
}

export function notedIn(learnt: Learnt, onRead: ((end: ReadEnd) => void) | undefined): Noted {
  return {
    before: new Map(),
    ended: end => {
      const rows = end.added + end.changed;
      learnt.news ||= rows + end.removed > 0;
      learnt.retired ||= end.resource === 'retirements' && rows > 0;
      onRead?.(end);
    },
    holdEnds: at => {
      learnt.holdEnd = Math.min(learnt.holdEnd ?? at, at);
    },
  };
}
