import type { Sqlite } from './driver.js';

/** How much of a write-ahead log has been moved to the database file by checkpoints. */
export interface WalState {
  /** Pages that were moved since the log was last reset. */
  readonly movedPages: number;
  readonly unmovedBytes: number;
  /** Whether a transaction that still reads an older state prevents a checkpoint. */
  readonly held: boolean;
}

/** Writers checkpoint the log when it has this size, unless a reader prevents it. */
export const CHECKPOINT_BYTES = 16_384_000;

/** Reads the state of a write-ahead log. Takes no lock and starts no checkpoint. */
export function readWalState(db: Sqlite, schema = 'main'): WalState {
  const [row] = db.prepare<[], WalCheckpoint>(`PRAGMA ${schema}.wal_checkpoint(NOOP)`).all();
  const pageBytes = Number(db.pragma(`${schema}.page_size`, { simple: true }));
  const movedPages = Math.max(0, row?.checkpointed ?? 0);
  const unmovedBytes = pageBytes * Math.max(0, (row?.log ?? 0) - movedPages);
  return { movedPages, unmovedBytes, held: unmovedBytes > CHECKPOINT_BYTES };
}

/** The row that PRAGMA wal_checkpoint returns. */
interface WalCheckpoint {
  readonly busy: number;
  /** The number of pages in the log; -1 if there is no log. */
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * Creates a function that measures for how long a write-ahead log has been held. A log is held while a reader prevents checkpoints of it.
 * Call the function with each new state of the log. It returns for how many milliseconds the log has been held without any page being moved
 * to the database file; 0 if the log is not held.
 */
export function createHeldTimer(): (state: WalState, now: number) => number {
  let since: { readonly at: number; readonly movedPages: number } | null = null;
  return ({ held, movedPages }, now) => {
    if (!held) since = null;
    else if (since?.movedPages !== movedPages) since = { at: now, movedPages };
    return since === null ? 0 : Math.max(0, now - since.at);
  };
}
