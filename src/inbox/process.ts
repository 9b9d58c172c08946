export const PROCESS_ROLES = ['receive', 'work'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];

/** Who lives. */
export interface LivingProcess {
  readonly role: ProcessRole;
  /** Name of the machine. */
  readonly host: string;
  readonly pid: number;
  /** By its own clock: with the others it tells one process from another. */
  readonly startedAt: number;
}

export const HEARTBEAT_INTERVAL_MS = 15_000;
/** A process without a heartbeat for so long is gone. Only the last of each role stays, to say since when. */
export const GONE_AFTER_MS = 3_600_000;

/** What can be told of the inbox at a glance. Instants are epoch milliseconds. */
export interface InboxPulse {
  /** When this was told. */
  readonly at: number;
  /** Claims tell of those that worked it before heartbeats were kept. */
  readonly workerEverSeen: boolean;
  /** The latest heartbeat of each role; without those that gave none. */
  readonly seenAt: Readonly<Partial<Record<ProcessRole, number>>>;
  /** Since when the oldest job waits that may start; null where none does. */
  readonly oldestDueAt: number | null;
}
