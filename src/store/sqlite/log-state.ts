import type { Sqlite } from './driver.js';

/** How much of a database's log waits to be moved to its file. */
export interface LogState {
  /** Pages that were moved since the log was begun. */
  readonly movedPages: number;
  readonly unmovedBytes: number;
  /** More waits than writers leave by themselves: somebody reads an older state and has not ended. */
  readonly held: boolean;
}

/** The longest that a log gets before its writers move it to the file, where nobody holds it back. */
export const LONGEST_LOG_BYTES = 16_384_000;

/** Moves nothing, and takes no lock. */
export function readLogState(db: Sqlite, schema = 'main'): LogState {
  const [row] = db.prepare<[], Checkpoint>(`PRAGMA ${schema}.wal_checkpoint(NOOP)`).all();
  const pageBytes = Number(db.pragma(`${schema}.page_size`, { simple: true }));
  const movedPages = Math.max(0, row?.checkpointed ?? 0);
  const unmovedBytes = pageBytes * Math.max(0, (row?.log ?? 0) - movedPages);
  return { movedPages, unmovedBytes, held: unmovedBytes > LONGEST_LOG_BYTES };
}

interface Checkpoint {
  readonly busy: number;
  /** Pages in the log; -1 where there is none. */
  readonly log: number;
  readonly checkpointed: number;
}

/** For how long a log has been held back at one place, as far as looks in between tell. */
export function createHoldClock(): (state: LogState, now: number) => number {
  let since: { readonly at: number; readonly movedPages: number } | null = null;
  return ({ held, movedPages }, now) => {
    if (!held) since = null;
    else if (since?.movedPages !== movedPages) since = { at: now, movedPages };
    return since === null ? 0 : Math.max(0, now - since.at);
  };
}
