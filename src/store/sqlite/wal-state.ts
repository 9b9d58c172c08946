import type { Sqlite } from './driver.js';

/** How much of a write-ahead log was not moved to the database file yet. */
export interface WalState {
  /** Pages that were moved since the log was last reset. */
  readonly movedPages: number;
  readonly unmovedBytes: number;
  /** Whether a reader of an older state keeps the log from being moved. */
  readonly held: boolean;
}

/** Writers move the log to the file at this size, unless a reader prevents it. */
export const CHECKPOINT_BYTES = 16_384_000;

/** Reads the state of a log without moving it and without a lock. */
export function readWalState(db: Sqlite, schema = 'main'): WalState {
  const [row] = db.prepare<[], Checkpoint>(`PRAGMA ${schema}.wal_checkpoint(NOOP)`).all();
  const pageBytes = Number(db.pragma(`${schema}.page_size`, { simple: true }));
  const movedPages = Math.max(0, row?.checkpointed ?? 0);
  const unmovedBytes = pageBytes * Math.max(0, (row?.log ?? 0) - movedPages);
  return { movedPages, unmovedBytes, held: unmovedBytes > CHECKPOINT_BYTES };
}

interface Checkpoint {
  readonly busy: number;
  /** Pages in the log; -1 where there is none. */
  readonly log: number;
  readonly checkpointed: number;
}

/** Creates a function that returns how long a log has been held at the same page. Call it regularly. */
export function createHeldTimer(): (state: WalState, now: number) => number {
  let since: { readonly at: number; readonly movedPages: number } | null = null;
  return ({ held, movedPages }, now) => {
    if (!held) since = null;
    else if (since?.movedPages !== movedPages) since = { at: now, movedPages };
    return since === null ? 0 : Math.max(0, now - since.at);
  };
}
