import type { LookUpMissingRows, ReadResult } from '../../mirror/mirror.js';
import { RegistryError } from '../../registry/errors.js';
import { DEFAULT_PAGE_SIZE, type ReadOptions } from '../../registry/read-types.js';
import { type ListItems, type ListResource, LISTS } from '../../resources/lists.js';
import { type ReadContext, recordRead } from '../installation/read-context.js';
import { describeFailure, SyncError } from '../outcome.js';
import { type ListChunk, type ListSource, SOURCES } from '../list-sources.js';
import { createCallCounter } from './call-counter.js';
import { forEachConcurrently } from './concurrency.js';
import { createListSummary } from './list-summary.js';

/** The maximum number of reads in a row of a list that changes while it is read. Afterwards a retry job reads the list. */
const MAX_PASSES = 3;
/** How many rows that are missing from a list are looked up at the same time. */
const LOOKUP_CONCURRENCY = 8;

/**
 * Reads a whole list, up to three times if it changes meanwhile, and writes the changes to the mirror. Throws if the list
 * could not be read completely.
 */
export async function readList<Name extends ListResource>(
  context: ReadContext,
  resource: Name,
): Promise<void> {
  for (let pass = 1; ; pass += 1) {
    const listPass = await beginPass(context, resource, context.scope.full && pass === 1);
    let result: ReadResult;
    try {
      for await (const chunk of listPass.chunks) {
        await listPass.write(chunk);
        await context.yieldTurn();
      }
      result = await listPass.finish();
    } catch (error) {
      await listPass.abandon(error);
      throw error;
    }
    const { state, fault, readAgain } = result;
    if (state === 'complete') return;
    if (!readAgain || pass === MAX_PASSES)
      throw new SyncError(state, fault?.message ?? 'the list changed while it was read');
  }
}

const NO_CHANGE_COUNTS = { added: 0, changed: 0, removed: 0, drift: 0 };

/** Begins one pass over a list. The caller writes each chunk, then calls `finish` or `abandon`. */
async function beginPass<Name extends ListResource>(context: ReadContext, resource: Name, full: boolean) {
  const { mirror, inbox, client, now, signal, installationId, writeClaim, job, cause, scope } = context;
  const source: ListSource<ListItems[Name]> = SOURCES[resource];
  const calls = createCallCounter(signal, now);
  const startedAt = now();
  const hasNewDelivery = async (since: number) =>
    (await inbox.haveDeliveriesArrived(installationId, [{ since }]))[0] ?? false;
  const { trigger } = job;
  const reader = await mirror.beginRead({
    ...writeClaim,
    resource,
    trigger,
    cause,
    startedAt,
    full,
    hasNewDelivery,
  });
  context.observations.previousReads.set(resource, reader.previousRead);
  const summary = createListSummary(context, source, LISTS[resource]);
  const limit = (full ? null : reader.previousRead.pageSize) ?? DEFAULT_PAGE_SIZE;
  // Rows of a list with open items are parsed even if they are unchanged, because their ends must be known.
  const knownRows = source.isOpen === undefined ? reader.known : undefined;

  return {
    chunks: source.readChunks(context.organization, {
      ...calls.requestOptions,
      limit,
      knownRows,
      onUnreadable: summary.addUnreadable,
    }),

    /** Writes the rows of the next chunk of the list to the mirror. Drops the rows of other organizations. */
    write({ items, page }: ListChunk<ListItems[Name]>): Promise<void> {
      summary.addChunk(items, page);
      const ownItems = summary.removeForeignRows(items);
      return page === null
        ? reader.writeBatch(ownItems, now())
        : reader.writePage({ ...page, items: ownItems });
    },

    /**
     * Completes the read of a list after the last chunk, and archives the stored rows that the registry no longer has.
     * Throws if pages are missing.
     */
    async finish(): Promise<ReadResult> {
      await reader.recordUnreadable(summary.listUnreadableKeys());
      const { flaw, unreadable, total, pageSize, everySeconds } = summary.finish(
        await reader.compareRemaining(),
      );
      const answersNameOrganization = calls.answersNameOrganization();
      const formWithoutTotal = source.kind === 'one' ? 'object' : 'list';
      const result = await reader.finish({
        total,
        flaw,
        unreadable,
        everySeconds,
        ...createMissingRowLookup(context, source, calls.requestOptions),
        ...(answersNameOrganization || scope.full ? { answersNameOrganization } : {}),
        ...(pageSize === null ? {} : { pageSize: pageSize === DEFAULT_PAGE_SIZE ? null : pageSize }),
        answer: calls.describeGoodAnswer(total === null ? formWithoutTotal : 'pages'),
        ...calls.getTraffic(),
      });
      recordRead(context, { ...result, resource, ms: now() - startedAt });
      return result;
    },

    /** Ends the read of a list after an error, and records the failure. Changes that are already written stay. */
    async abandon(error: unknown): Promise<void> {
      recordRead(context, { ...NO_CHANGE_COUNTS, resource, state: 'failed', ms: now() - startedAt });
      const { code, message } = describeFailure(signal.aborted ? signal.reason : error);
      const answer = calls.describeBadAnswer(error, client.http.mask);
      await reader.abandon({ code, message }, { ...calls.getTraffic(), answer });
    },
  };
}

/**
 * Returns an options object with the function `lookUpMissing`. Given the ids of rows that the mirror stores but the list no longer
 * contains, the function asks the registry for each row. It returns the ids that no longer exist. Returns `{}` if the registry
 * cannot return single rows of this list.
 */
function createMissingRowLookup<Item>(
  { organization, now }: ReadContext,
  { readOne }: ListSource<Item>,
  options: ReadOptions,
): { readonly lookUpMissing?: LookUpMissingRows } {
  if (readOne === undefined) return {};
  return {
    lookUpMissing: async ids => {
      const goneAt = new Map<string, number>();
      await forEachConcurrently(LOOKUP_CONCURRENCY, ids, async id => {
        if (await isNotFound(readOne(organization, id, options))) goneAt.set(id, now());
      });
      return goneAt;
    },
  };
}

/** Errors that concern every request and so say nothing about the requested item. */
const GENERAL_ERRORS: readonly string[] = ['cancelled', 'unauthorized', 'installation_gone', 'rate_limited'];

/** Whether a request fails with `not_found`. Throws errors such as `rate_limited`, which say nothing about the requested item. */
async function isNotFound(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return false;
  } catch (error) {
    if (!(error instanceof RegistryError) || GENERAL_ERRORS.includes(error.code)) throw error;
    return error.code === 'not_found';
  }
}
