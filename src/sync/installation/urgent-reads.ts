import type { AccessChecker } from './access.js';
import type { ReadContext } from './read-context.js';
import { endsJob, toFailureCode } from '../outcome.js';
import type { SyncedResource } from '../plan.js';

/** What urgent reads need besides the context of the job. */
export interface UrgentReadsOptions {
  readonly accessChecker: AccessChecker;
  /**
   * Returns the resources that may be requested now: the permissions allow them, and the registry has not recently refused to
   * return them.
   */
  readonly listReadable: () => Promise<readonly SyncedResource[]>;
  /** Reads a resource without urgent reads between its pages. */
  readonly readResource: (resource: SyncedResource) => Promise<void>;
}

const CHECK_INTERVAL_MS = 1000;
/** Resources that show what is available for sale. Reading them must not wait for the end of a long list. */
const URGENT_RESOURCES = ['warehouse', 'reservations'] as const satisfies readonly SyncedResource[];

/**
 * Creates an object with the function `yieldTurn`, which a long job calls regularly. The function lets other jobs run. If a webhook
 * has arrived since the last urgent read, the function also reads the warehouse and the reservations.
 */
export function createUrgentReads(
  context: Pick<ReadContext, 'inbox' | 'now' | 'installationId' | 'signal' | 'yieldTurn'>,
  { accessChecker, listReadable, readResource }: UrgentReadsOptions,
) {
  const { inbox, now, installationId, signal } = context;
  let lastReadAt = now();
  let lastCheckAt = now();
  let readInProgress = false;
  const refused = new Set<SyncedResource>();

  /**
   * Whether a webhook has arrived since the last urgent read. Queries the inbox at most once a second; returns false in
   * between.
   */
  async function hasNewDelivery(): Promise<boolean> {
    if (readInProgress || now() - lastCheckAt < CHECK_INTERVAL_MS) return false;
    lastCheckAt = now();
    const queries = [{ since: lastReadAt, isNew: true }];
    const [hasArrived = false] = await inbox.haveDeliveriesArrived(installationId, queries);
    return hasArrived;
  }

  /** Checks the access, then reads the warehouse and the reservations, except `interruptedResource`, which is being read. */
  async function readUrgentResources(interruptedResource: SyncedResource | undefined): Promise<void> {
    lastReadAt = now();
    await accessChecker.recheck();
    const readable = await listReadable();
    for (const resource of URGENT_RESOURCES) {
      if (resource !== interruptedResource && !refused.has(resource) && readable.includes(resource))
        await tryReadResource(resource);
    }
  }

  /**
   * Reads a resource, and ignores errors that do not end the whole job. After a `forbidden` error, later urgent reads skip
   * the resource.
   */
  async function tryReadResource(resource: SyncedResource): Promise<void> {
    try {
      await readResource(resource);
    } catch (error) {
      signal.throwIfAborted();
      if (endsJob(error)) throw error;
      if (toFailureCode(error) === 'forbidden') refused.add(resource);
    }
  }

  return {
    /**
     * Lets other jobs run. After a new webhook, also reads the warehouse and the reservations, except the resource being
     * read.
     */
    async yieldTurn(interruptedResource?: SyncedResource): Promise<void> {
      await context.yieldTurn();
      if (!(await hasNewDelivery())) return;
      readInProgress = true;
      try {
        await readUrgentResources(interruptedResource);
      } finally {
        readInProgress = false;
      }
    },
  };
}
