import type { Mirror } from '../../mirror/mirror.js';
import type { Cause, LastRead, Task } from '../../mirror/port.js';
import type { OrganizationClient } from '../../registry/clients.js';
import type { TokenClient } from '../../registry/clients.js';
import type { ReadEnd } from '../context.js';
import type { Resource } from '../plan.js';

/** What a step is given. Nothing here can begin a transaction that something slow is awaited in. */
export interface StepContext {
  readonly organizationId: string;
  /** The claim that every write carries. */
  readonly task: Task;
  readonly organization: OrganizationClient;
  /** With the app's own token. */
  readonly open: TokenClient;
  readonly mirror: Mirror;
  readonly trigger: string;
  readonly cause: Cause;
  readonly full: boolean;
  readonly lastRead: (resource: Resource) => Promise<LastRead | null>;
  /** Whether a delivery came at or after that instant. */
  readonly deliveredSince: (at: number) => boolean;
  readonly now: () => number;
  /** Epoch milliseconds by the registry's clock. */
  readonly registryNow: () => number;
  /** Takes secrets out of what the registry said. */
  readonly mask: (text: string) => string;
  readonly signal: AbortSignal;
  /** To be awaited after every page: others may go first, and an aborted run ends here. */
  readonly turn: () => Promise<void>;
  /** Told when the next outstanding hold ends, by the registry's clock. */
  readonly onHoldEnd: (at: number) => void;
  readonly onRead: (end: ReadEnd) => void;
  /** Told when a retirement came or changed. */
  readonly onRetired: () => void;
}
