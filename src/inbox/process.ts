export const PROCESS_ROLES = ['receive', 'work'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];

/** The identity of a running process, which each of its heartbeats carries. */
export interface ProcessIdentity {
  readonly role: ProcessRole;
  /** Host name of the machine. */
  readonly host: string;
  readonly pid: number;
  /** Start time by the process's own clock. It tells processes apart that reuse a pid. */
  readonly startedAt: number;
}

export const HEARTBEAT_INTERVAL_MS = 15_000;
/** Processes without a heartbeat for this long are removed. The latest process of each role stays, to show since when it is gone. */
export const PROCESS_RETENTION_MS = 3_600_000;

/** The latest heartbeats, and since when jobs wait. Instants are epoch milliseconds. */
export interface InboxStatus {
  /** When the status was read. */
  readonly at: number;
  /** Whether any worker ever sent a heartbeat or claimed a job. */
  readonly workerEverSeen: boolean;
  /** The latest heartbeat of each role; a role without heartbeats is absent. */
  readonly seenAt: Readonly<Partial<Record<ProcessRole, number>>>;
  /** Since when the oldest due job waits; null if no job is due. */
  readonly oldestDueAt: number | null;
}
