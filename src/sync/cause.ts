import type { Cause } from '../mirror/port.js';
import type { Wish } from './plan.js';
import type { Run } from './worker/worker.js';

/** A run that knows why it is made, to write it beside what it reads, and what it is asked for. */
export interface CausedRun extends Run {
  readonly cause: Cause;
  readonly wish: Wish;
}
