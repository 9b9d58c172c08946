interface ClockState {
  /** How far the sandbox's clock is ahead of the wall clock. Not used while the clock is frozen. */
  readonly offsetMs: number;
  /** The instant at which the clock is frozen; null while it runs. */
  readonly frozenAt: number | null;
}

/**
 * The limits of the clock. Instants are compared as text, so all years need four digits, including those of later expiry
 * dates.
 */
export const EARLIEST_INSTANT = Date.UTC(2000, 0, 1);
export const LATEST_INSTANT = Date.UTC(9000, 0, 1);

const RUNNING: ClockState = { offsetMs: 0, frozenAt: null };

/** Reads and writes the stored state of a clock. */
interface ClockStateStorage {
  readonly read: () => unknown;
  readonly write: (state: ClockState) => void;
}

export type SandboxClock = ReturnType<typeof createSandboxClock>;

/** Creates a clock that can be set, shifted and frozen. `read` and `write` load and store its state. */
export function createSandboxClock({ read, write }: ClockStateStorage, wallClock: () => number) {
  /** Returns the clock's offset and the instant at which the clock is frozen. */
  function getState(): ClockState {
    return { ...RUNNING, ...Object(read()) };
  }

  /** Returns the sandbox clock's time in epoch milliseconds. */
  function now(): number {
    const { offsetMs, frozenAt } = getState();
    return frozenAt ?? wallClock() + offsetMs;
  }

  /** Sets the clock to an instant. A frozen clock stays frozen. */
  function setTime(instantMs: number): void {
    write({ offsetMs: instantMs - wallClock(), frozenAt: getState().frozenAt === null ? null : instantMs });
  }

  /** Moves the clock forward, or back if `deltaMs` is negative. A frozen clock stays frozen. */
  function shiftTime(deltaMs: number): void {
    setTime(now() + deltaMs);
  }

  /** Stops the clock at the current instant. */
  function freeze(): void {
    write({ ...getState(), frozenAt: now() });
  }

  /** Restarts a frozen clock from the instant at which the clock was frozen. */
  function resume(): void {
    write({ offsetMs: now() - wallClock(), frozenAt: null });
  }

  // All dates and expiries of the registry follow this clock.
  return { now, getState, setTime, shiftTime, freeze, resume };
}

/** Formats epoch milliseconds as ISO 8601 text, such as `2024-01-31T12:00:00.000Z`. */
export function toInstant(ms: number): string {
  return new Date(ms).toISOString();
}
