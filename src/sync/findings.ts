import type { Resource } from './plan.js';

/** What one look has come to know. */
export interface Findings {
  /** What went wrong with each resource that could not be read. */
  readonly failures: Map<Resource, unknown>;
  /** When the next outstanding hold ends, by the registry's clock. */
  holdEnd: number | null;
  /** Retirements came or changed: there may be certificates to fetch. */
  retired: boolean;
}
