import type { Sqlite } from '../database/open.js';

/** Reading the version touches no table and takes some microseconds. */
const POLL_MS = 25;

/** Calls back soon after another connection has committed to this database. Answers how to stop. */
export function watchCommits(db: Sqlite, changed: () => void, pollMs: number = POLL_MS): () => void {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck();
  let seen = version.get();
  const timer = setInterval(() => {
    const current = version.get();
    if (current === seen) return;
    seen = current;
    changed();
  }, pollMs);
  return () => clearInterval(timer);
}
