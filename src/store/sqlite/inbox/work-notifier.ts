import type { Sqlite } from '../open-database.js';

/** Reading the version touches no table and takes some microseconds. */
const POLL_MS = 25;

/** Tells a process that there may be new jobs. */
export interface WorkNotifier {
  /** Calls back soon after another connection has committed, or after `notify`. Returns a function that stops watching. */
  readonly watch: (onChange: () => void) => () => void;
  /** Call this after this connection has requested work, because its own commits do not change its data_version. */
  readonly notify: () => void;
}

/** Creates a notifier that polls `data_version`, which SQLite changes when another connection has committed. */
export function createWorkNotifier(db: Sqlite): WorkNotifier {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck();
  let requests = 0;
  return {
    watch: onChange => {
      const readVersion = () => `${version.get()} ${requests}`;
      let previous = readVersion();
      const timer = setInterval(() => {
        const current = readVersion();
        if (current === previous) return;
        previous = current;
        onChange();
      }, POLL_MS);
      return () => clearInterval(timer);
    },
    notify: () => {
      requests += 1;
    },
  };
}
