import type { DatabaseSettings } from '../settings.js';

/** Tells the instant in epoch ms; null where the database's own clock does. */
export type InboxClock = (() => number) | null;

export function clockOf({ clock }: DatabaseSettings, now: () => number): InboxClock {
  return clock === 'process' ? now : null;
}
