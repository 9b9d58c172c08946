import { isId } from '../registry/model.js';
import { readState, type StateKeys } from './install-state.js';

/** What a browser brings back from the registry's installation page. Nothing of it is signed but the state. */
export interface Callback {
  readonly state: string;
  readonly installationId: string;
}

export interface CallbackOptions extends StateKeys {
  /** Make sure that the installation is looked at soon; `repeated` where it was asked for before. */
  readonly look: (installationId: string, repeated: boolean) => Promise<void>;
}

/** A state that was used, and for what. */
interface Used {
  readonly installationId: string;
  readonly expiresAt: number;
  askedAt: number;
}

/** A page that is loaded again asks for nothing new, and whoever goes on for no more than this. */
const AGAIN_AFTER_MS = 60_000;
/** Only who holds a secret makes states, and they end: this many at once is a mistake of theirs. */
const MOST_STATES = 10_000;

/**
 * A state stands for one installation: whoever has one cannot make us ask after others. False, and nothing is stored,
 * where it is none of ours, too old or used for another. Whether there is such an installation the registry tells the worker.
 */
export function createTakeCallback({ look, ...keys }: CallbackOptions) {
  const used = new Map<string, Used>();

  function forget(now: number): void {
    for (const [id, { expiresAt }] of used) if (expiresAt <= now) used.delete(id);
    const [oldest] = used.keys();
    if (used.size >= MOST_STATES && oldest !== undefined) used.delete(oldest);
  }

  return async ({ state, installationId }: Callback, now: number): Promise<boolean> => {
    const read = readState(state, keys, now);
    if (read === null || !isId(installationId)) return false;
    const before = used.get(read.id);
    if (before !== undefined && before.installationId !== installationId) return false;
    const age = before === undefined ? Infinity : now - before.askedAt;
    if (age >= 0 && age < AGAIN_AFTER_MS) return true;
    if (used.size >= MOST_STATES) forget(now);
    used.set(read.id, { installationId, expiresAt: read.expiresAt, askedAt: now });
    try {
      await look(installationId, before !== undefined);
    } catch (error) {
      used.delete(read.id);
      throw error;
    }
    return true;
  };
}
