import type { Cause } from '../mirror/port.js';
import type { Wish } from './plan.js';
import type { JobAtWork } from './worker/worker.js';

/** A job that knows why it is made, to write it beside what it reads, and what it is asked for. */
export interface CausedJob extends JobAtWork {
  readonly cause: Cause;
  readonly wish: Wish;
}
