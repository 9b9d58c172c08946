import type { Database } from 'better-sqlite3';
import { readSetting, writeSetting } from './settings.js';

interface ClockState {
  /** How far the sandbox's clock is ahead of the wall clock. Unused while it stands still. */
  readonly offsetMs: number;
  /** The instant at which it stands still, or null while it runs. */
  readonly frozenAt: number | null;
}

export interface Clock {
  now(): number;
  state(): ClockState;
  /** Ahead, or back where negative. A clock that stands still goes on standing still. */
  move(ms: number): void;
  setTo(at: number): void;
  freeze(): void;
  run(): void;
}

/** Instants are compared as text, which needs four digits of the year, with room for what is still to expire. */
export const EARLIEST = Date.UTC(2000, 0, 1);
export const LATEST = Date.UTC(9000, 0, 1);

const RUNNING: ClockState = { offsetMs: 0, frozenAt: null };

/** The sandbox's own clock: everything that the registry dates or lets expire reads this one. */
export function createClock(db: Database, wall: () => number, passed: (now: number) => void): Clock {
  let state = parseState(readSetting(db, 'clock'));

  function now(): number {
    return state.frozenAt ?? wall() + state.offsetMs;
  }

  /** What has run out by then stays so, wherever the clock goes next. */
  function change(next: ClockState): void {
    passed(now());
    state = next;
    writeSetting(db, 'clock', next);
    passed(now());
  }

  function setTo(at: number): void {
    change({ offsetMs: at - wall(), frozenAt: state.frozenAt === null ? null : at });
  }

  return {
    now,
    state: () => state,
    move: ms => setTo(now() + ms),
    setTo,
    freeze: () => change({ ...state, frozenAt: now() }),
    run: () => change({ offsetMs: now() - wall(), frozenAt: null }),
  };
}

function parseState(saved: unknown): ClockState {
  if (typeof saved !== 'object' || saved === null) return RUNNING;
  if (!('offsetMs' in saved) || !('frozenAt' in saved)) return RUNNING;
  const { offsetMs, frozenAt } = saved;
  if (typeof offsetMs !== 'number') return RUNNING;
  return { offsetMs, frozenAt: typeof frozenAt === 'number' ? frozenAt : null };
}

export function toInstant(ms: number): string {
  return new Date(ms).toISOString();
}
