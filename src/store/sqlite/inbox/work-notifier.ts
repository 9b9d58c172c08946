import type { Sqlite } from '../open-database.js';

/** Reading the version touches no table and takes some microseconds. */
const POLL_MS = 25;

export interface WorkNotifier {
  /** Calls back soon after another connection has committed, or after `wake`. Returns a function that stops watching. */
  readonly watch: (changed: () => void) => () => void;
  /** Call this after this connection has requested work, because its own commits do not change its data_version. */
  readonly notify: () => void;
}

export function createWorkNotifier(db: Sqlite): WorkNotifier {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck();
  let requests = 0;
  return {
    watch: changed => {
      const look = () => `${version.get()} ${requests}`;
      let previous = look();
      const timer = setInterval(() => {
        const current = look();
        if (current === previous) return;
        previous = current;
        changed();
      }, POLL_MS);
      return () => clearInterval(timer);
    },
    notify: () => {
      requests += 1;
    },
  };
}
