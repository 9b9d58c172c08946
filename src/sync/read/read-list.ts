import type { Ask, Finished } from '../../mirror/mirror.js';
import { RegistryError } from '../../registry/errors.js';
import { DEFAULT_PAGE_SIZE, type ReadOptions } from '../../registry/read-types.js';
import { type Items, type ListResource, LISTS } from '../../resources/lists.js';
import { noteRead, type Step } from '../installation/step.js';
import { describe, SyncError } from '../outcome.js';
import { type Part, type Source, SOURCES } from '../sources.js';
import { countCalls, inLanes } from './calls.js';
import { createListing } from './listing.js';

/** A list that moves while it is read is read again at once, this often; then later. */
const PASSES = 3;
const ASKED_AT_ONCE = 8;

/** Read a whole list and write what changed. An answer that breaks off leaves true rows and says so. */
export async function readList<Name extends ListResource>(step: Step, resource: Name): Promise<void> {
  for (let pass = 1; ; pass += 1) {
    const reading = await begin(step, resource, step.wish.full && pass === 1);
    let ended: Finished;
    try {
      for await (const part of reading.parts) {
        await reading.take(part);
        await step.turn();
      }
      ended = await reading.finish();
    } catch (error) {
      await reading.abandon(error);
      throw error;
    }
    const { state, fault, readAgain } = ended;
    if (state === 'complete') return;
    if (!readAgain || pass === PASSES)
      throw new SyncError(state, fault?.message ?? 'the list moved while it was read');
  }
}

const NO_ROWS = { added: 0, changed: 0, removed: 0, drift: 0 };

/** One pass over a list. */
async function begin<Name extends ListResource>(step: Step, resource: Name, full: boolean) {
  const { mirror, inbox, client, now, signal, installationId, task, job, cause, wish } = step;
  const source: Source<Items[Name]> = SOURCES[resource];
  const calls = countCalls(signal, now);
  const startedAt = now();
  const announced = async (since: number) => (await inbox.haveCome(installationId, [{ since }]))[0] ?? false;
  const { trigger } = job;
  const read = await mirror.beginRead({ ...task, resource, trigger, cause, startedAt, full, announced });
  step.observed.before.set(resource, read.before);
  const listing = createListing(step, source, LISTS[resource]);
  const limit = (full ? null : read.before.pageSize) ?? DEFAULT_PAGE_SIZE;
  // What is open is looked at each time.
  const known = source.isOpen === undefined ? read.known : undefined;

  return {
    parts: source.parts(step.organization, {
      ...calls.options,
      limit,
      knownRows: known,
      onUnreadable: listing.leaveOut,
    }),
    take: ({ items, page }: Part<Items[Name]>) => {
      listing.take(items, page);
      const own = listing.own(items);
      return page === null ? read.writeBatch(own, now()) : read.writePage({ ...page, items: own });
    },
    finish: async () => {
      await read.leaveOut(listing.unreadableKeys());
      const { flaw, unreadable, total, pageSize, everySeconds } = listing.end(await read.settle());
      const isTold = calls.ownerNamed();
      const plain = source.kind === 'one' ? 'object' : 'list';
      const outcome = await read.finish({
        total,
        flaw,
        unreadable,
        everySeconds,
        ...asking(step, source, calls.options),
        ...(isTold || wish.full ? { ownerNamed: isTold } : {}),
        ...(pageSize === null ? {} : { pageSize: pageSize === DEFAULT_PAGE_SIZE ? null : pageSize }),
        answer: calls.goodAnswer(total === null ? plain : 'pages'),
        ...calls.traffic(),
      });
      noteRead(step, { ...outcome, resource, ms: now() - startedAt });
      return outcome;
    },
    abandon: async (error: unknown) => {
      noteRead(step, { ...NO_ROWS, resource, state: 'failed', ms: now() - startedAt });
      const { code, message } = describe(signal.aborted ? signal.reason : error);
      const answer = calls.badAnswer(error, client.http.mask);
      await read.abandon({ code, message }, { ...calls.traffic(), answer });
    },
  };
}

/** Where one can be asked for by its id, one that is missing from the list is, before that is believed. */
function asking<Item>(
  { organization, now }: Step,
  { readOne }: Source<Item>,
  options: ReadOptions,
): { readonly ask?: Ask } {
  if (readOne === undefined) return {};
  return {
    ask: async ids => {
      const gone = new Map<string, number>();
      await inLanes(ASKED_AT_ONCE, ids, async id => {
        if (await isUnknown(readOne(organization, id, options))) gone.set(id, now());
      });
      return gone;
    },
  };
}

/** What says nothing of the one that was asked for. */
const SAID_OF_ALL: readonly string[] = ['cancelled', 'unauthorized', 'installation_gone', 'rate_limited'];

/** Any other answer than that it is not found proves nothing: the row stays, and the list is read to its end. */
async function isUnknown(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked;
    return false;
  } catch (error) {
    if (!(error instanceof RegistryError) || SAID_OF_ALL.includes(error.code)) throw error;
    return error.code === 'not_found';
  }
}
