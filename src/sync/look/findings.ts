import type { Resource } from '../plan.js';

/** What one look has come to know. */
export interface Findings {
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
