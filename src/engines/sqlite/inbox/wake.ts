import type { Sqlite } from '../open.js';

/** Reading the version touches no table and takes some microseconds. */
const POLL_MS = 25;

export interface Wake {
  /** Calls back soon after another connection has committed, or this one has asked for work. Answers how to stop. */
  readonly watch: (changed: () => void, pollMs?: number) => () => void;
  /** What is written here on this connection asks for work, which its own data_version does not tell. */
  readonly asking: <Given extends unknown[], Answer>(
    work: (...given: Given) => Answer,
  ) => (...given: Given) => Answer;
}

export function createWake(db: Sqlite): Wake {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck();
  let asked = 0;
  return {
    watch: (changed, pollMs = POLL_MS) => {
      const look = () => `${version.get()} ${asked}`;
      let seen = look();
      const timer = setInterval(() => {
        const current = look();
        if (current === seen) return;
        seen = current;
        changed();
      }, pollMs);
      return () => clearInterval(timer);
    },
    asking:
      work =>
      (...given) => {
        const answer = work(...given);
        asked += 1;
        return answer;
      },
  };
}
