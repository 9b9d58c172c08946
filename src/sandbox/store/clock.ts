interface ClockState {
  /** How far the sandbox's clock is ahead of the wall clock. Unused while it stands still. */
  readonly offsetMs: number;
  /** The instant at which it stands still, or null while it runs. */
  readonly frozenAt: number | null;
}

/** Instants are compared as text, which needs four digits of the year, with room for what is still to expire. */
export const EARLIEST = Date.UTC(2000, 0, 1);
export const LATEST = Date.UTC(9000, 0, 1);

const RUNNING: ClockState = { offsetMs: 0, frozenAt: null };

/** Where the state of a clock is kept. */
interface ClockPlace {
  readonly read: () => unknown;
  readonly write: (state: ClockState) => void;
}

export type Clock = ReturnType<typeof createClock>;

/** The sandbox's own clock: everything that the registry dates or lets expire reads this one. */
export function createClock({ read, write }: ClockPlace, wall: () => number) {
  const state = (): ClockState => ({ ...RUNNING, ...Object(read()) });

  function now(): number {
    const { offsetMs, frozenAt } = state();
    return frozenAt ?? wall() + offsetMs;
  }

  function setTo(at: number): void {
    write({ offsetMs: at - wall(), frozenAt: state().frozenAt === null ? null : at });
  }

  return {
    now,
    state,
    /** Ahead, or back where negative. A clock that stands still goes on standing still. */
    move: (ms: number) => setTo(now() + ms),
    setTo,
    freeze: () => write({ ...state(), frozenAt: now() }),
    run: () => write({ offsetMs: now() - wall(), frozenAt: null }),
  };
}

export function toInstant(ms: number): string {
  return new Date(ms).toISOString();
}
