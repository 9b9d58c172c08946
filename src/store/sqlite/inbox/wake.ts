import type { Sqlite } from '../open.js';

/** Reading the version touches no table and takes some microseconds. */
const POLL_MS = 25;

export interface Wake {
  /** Calls back soon after another connection has committed, or this one has asked for work. Answers how to stop. */
  readonly watch: (changed: () => void) => () => void;
  /** What was written on this connection asks for work, which its own data_version does not tell. */
  readonly asked: () => void;
}

export function createWake(db: Sqlite): Wake {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck();
  let asked = 0;
  return {
    watch: changed => {
      const look = () => `${version.get()} ${asked}`;
      let seen = look();
      const timer = setInterval(() => {
        const current = look();
        if (current === seen) return;
        seen = current;
        changed();
      }, POLL_MS);
      return () => clearInterval(timer);
    },
    asked: () => {
      asked += 1;
    },
  };
}
