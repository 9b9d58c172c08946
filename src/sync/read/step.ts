import type { Cause, LastRead, Task } from '../../mirror/port.js';
import type { OrganizationClient, RegistryClient } from '../../registry/clients.js';
import type { Mirror } from '../../mirror/mirror.js';
import type { InboxPort } from '../../inbox/port.js';
import type { ReadEnd } from './read-end.js';

/** What reading one resource is given. Nothing here can begin a transaction that something slow is awaited in. */
export interface Step {
  readonly inbox: InboxPort;
  readonly mirror: Mirror;
  readonly client: RegistryClient;
  readonly now: () => number;
  readonly installationId: string;
  readonly organizationId: string;
  /** The claim that every write carries. */
  readonly task: Task;
  readonly organization: OrganizationClient;
  readonly trigger: string;
  readonly cause: Cause;
  readonly full: boolean;
  readonly signal: AbortSignal;
  /** To be awaited after every page: others may go first, and an aborted run ends here. */
  readonly turn: () => Promise<void>;
}

/** What came of reading one resource. */
export interface Reading {
  /** How the mirror knew it before. */
  readonly before: LastRead | null;
  /** One for each time that the list was read. */
  readonly ends: readonly ReadEnd[];
  /** When the next outstanding hold of those that were seen ends, by the registry's clock. */
  readonly holdEnd: number | null;
  /** Null where it was read. */
  readonly error: unknown;
}

/** What is seen of it on the way. */
export interface Noted {
  readonly ends: ReadEnd[];
  holdEnd: number | null;
}
