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
  readonly noted: Noted;
}

/** What is seen of reads on the way. */
export interface Noted {
  /** How the mirror knew each resource before its latest read. */
  readonly before: Map<string, LastRead>;
  /** Each time that a list was read. */
  readonly ended: (end: ReadEnd) => void;
  /** When a reservation that is outstanding ends, by the registry's clock. */
  readonly reservationEnds: (at: number) => void;
}
