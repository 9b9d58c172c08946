import type { KnownInstallation } from './installations.js';

/** A resource that was read completely at least once and may still be read. */
export interface KnownResource {
  readonly organizationId: string;
  readonly resource: string;
  /** Start of its last complete read. */
  readonly dataAsOf: string;
  /** When the oldest unread delivery arrived, which the last complete read did not answer; null if there is none. */
  readonly oldestUnreadAt: string | null;
}

/** A resource with a delivery that no read has answered yet. */
export interface UnreadDelivery {
  readonly organizationId: string;
  readonly resource: string;
  /** When the oldest unread delivery arrived, which the last complete read did not answer. */
  readonly oldestUnreadAt: string;
}

/** The registry that a mirror is filled from, and the app that reads it. */
export interface MirrorOrigin {
  readonly baseUrl: string;
  readonly appId: string;
  /** The time between two scheduled reads, from which queries derive overdue reads. Absent if there is no schedule. */
  readonly scheduleSeconds?: number;
  /** Whether the registry may have another address than before, as a sandbox has after each start. */
  readonly mayMove?: boolean;
  /** The end of the simulated past of a sandbox, in epoch milliseconds. Absent keeps the stored one. */
  readonly simulatedTo?: number;
}

/** The state of the mirror as a whole. */
export interface MirrorState {
  /** When the mirror was first filled; null before. */
  readonly filledAt: number | null;
  /** When the registry's complete list of installations was last read; null before. */
  readonly listedAt: number | null;
  /** How long after `listedAt` that list counts as current. */
  readonly listValidForMs: number;
  readonly highestClaim: number;
  /** SHA-256 hashes of the email addresses of forgotten people. */
  readonly forgotten: ReadonlySet<string>;
}

/** A worker's report to programs that see only the mirror and not the inbox. Absent fields stay as stored. */
export interface WorkerReport {
  readonly at: string;
  /** Installations that a webhook or a list named and that may not have been read yet. */
  readonly awaitedInstallations?: readonly Pick<KnownInstallation, 'id' | 'organizationId'>[];
  /** All resources with an unread delivery. Drops earlier awaited installations that are not in this report. */
  readonly unreadDeliveries?: readonly UnreadDelivery[];
  /** The number of wrong rows that each check of the mirror's data found. */
  readonly findings?: readonly { readonly finding: string; readonly rows: number }[];
  /** All existing checks; stored counts of other checks are removed. By default the checks of this report. */
  readonly knownFindings?: readonly string[];
  /** When the registry's complete list of installations was read. */
  readonly listedAt?: number;
}
