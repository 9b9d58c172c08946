import type { WorkNotifier } from '../../inbox/inbox-store.js';
import type { Sqlite } from '../open-database.js';

/** Reading the version touches no table and takes some microseconds. */
const POLL_MS = 25;

/**
 * Creates a notifier that polls the number `data_version`. SQLite changes the number when another connection has committed, but not after
 * commits of this connection. Call `notify` after those.
 */
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
