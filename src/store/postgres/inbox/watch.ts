import type { Postgres } from '../open.js';

type Ear = Pick<Postgres, 'listen' | 'query'>;

export interface Wake {
  /** Calls back whenever there may be something to do. Answers how to stop. */
  readonly watch: (changed: () => void) => () => void;
  /** This process has asked for work itself. */
  readonly asked: () => void;
}

const POLL_MS = 1000;
/** Ten minutes in which nobody told of work. */
const QUIET_TURNS = 600;
/** Then every fifth second is enough for what is missed where others are heard. */
const SELDOM = 5;

/** Looking is what counts. To be told is faster, and may be missing: poolers forget who listens. */
export function createWake({ listen, query }: Ear, channel: string): Wake {
  const watchers = new Set<() => void>();
  let [quietTurns, hears] = [0, false];
  const ear = createEar({ listen, query }, channel, { heard, lost: () => (hears = false) });
  let timer: NodeJS.Timeout | undefined;

  function wake(): void {
    for (const changed of watchers) changed();
  }

  function heard(): void {
    [quietTurns, hears] = [0, true];
    wake();
  }

  function look(): void {
    ear.open();
    quietTurns += 1;
    if (isTurn(quietTurns, hears)) wake();
  }

  return {
    watch: changed => {
      watchers.add(changed);
      ear.open();
      timer ??= setInterval(look, POLL_MS);
      return () => {
        watchers.delete(changed);
        if (watchers.size > 0) return;
        clearInterval(timer);
        timer = undefined;
        ear.close();
      };
    },
    asked: () => {
      quietTurns = 0;
      wake();
    },
  };
}

/** `hears`: a word has come by the connection that listens. */
export function isTurn(quietTurns: number, hears: boolean): boolean {
  return !hears || quietTurns <= QUIET_TURNS || quietTurns % SELDOM === 0;
}

interface Told {
  readonly heard: () => void;
  readonly lost: () => void;
}

/** One connection that listens, made anew when it was lost and `open` is called again. Its first word is its own. */
function createEar({ listen, query }: Ear, channel: string, { heard, lost }: Told) {
  /** The connection that is wanted; an older one that comes late, or goes, is no matter any more. */
  let wanted: symbol | null = null;
  let end = (): void => undefined;

  function close(): void {
    wanted = null;
    end();
    lost();
  }

  async function start(ear: symbol): Promise<void> {
    const isWanted = (): boolean => wanted === ear;
    try {
      const stop = await listen(channel, heard, () => isWanted() && close());
      if (!isWanted()) return stop();
      end = stop;
      await query("SELECT pg_notify($1, '')", [channel]);
    } catch {
      if (isWanted()) close();
    }
    return undefined;
  }

  return {
    open: () => {
      if (wanted !== null) return;
      wanted = Symbol('ear');
      void start(wanted);
    },
    close,
  };
}
