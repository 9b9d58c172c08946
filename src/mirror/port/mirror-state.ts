import type { KnownInstallation } from './installations.js';

/** A resource that was read completely at least once and may still be read. */
export interface KnownResource {
  readonly organizationId: string;
  readonly resource: string;
  /** Start of its last complete read. */
  readonly dataAsOf: string;
  /** When the oldest delivery arrived that its last complete read has not answered; null if there is none. */
  readonly oldestUnreadAt: string | null;
}

/** A resource with a delivery that no read has answered yet. */
export interface UnreadDelivery {
  readonly organizationId: string;
  readonly resource: string;
  /** When the oldest delivery arrived that the resource's last complete read has not answered. */
  readonly oldestUnreadAt: string;
}

/** The registry that a mirror is filled from, and the app that reads it. */
export interface MirrorOrigin {
  readonly baseUrl: string;
  readonly appId: string;
  /** The time between two scheduled reads. Queries derive from it what is overdue. Absent if there is no schedule. */
  readonly scheduleSeconds?: number;
  /** Whether the registry may have another address than before, as a sandbox has after each start. */
  readonly mayMove?: boolean;
  /** For a sandbox whose clock was simulated at first: until when, in epoch milliseconds. */
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

/** What a worker reports to programs that see only the mirror and not the inbox. Absent fields stay as stored. */
export interface WorkerReport {
  readonly at: string;
  /** Installations that a webhook announced or a list showed, and that may not have been read yet. */
  readonly awaitedInstallations?: readonly Pick<KnownInstallation, 'id' | 'organizationId'>[];
  /** All resources with an unread delivery. Drops earlier awaited installations that are not in this report. */
  readonly unreadDeliveries?: readonly UnreadDelivery[];
  /** How many rows a check of the mirror's data found wrong, for each check that was run. */
  readonly findings?: readonly { readonly finding: string; readonly rows: number }[];
  /** All checks there are: counts of others are removed. By default those of this report. */
  readonly knownFindings?: readonly string[];
  /** When the registry's complete list of installations was read. */
  readonly listedAt?: number;
}
