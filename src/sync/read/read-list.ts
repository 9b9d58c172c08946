import type { Ask, Finished, Read } from '../../mirror/mirror.js';
import { RegistryError } from '../../registry/errors.js';
import { type Page, PAGE_ROWS, type ReadOptions } from '../../registry/reading.js';
import { type Items, type ListResource, LISTS } from '../../resources/lists.js';
import { badAnswer, goodAnswer } from './answer.js';
import { inLanes } from '../worker/lanes.js';
import { countCalls } from './count-calls.js';
import { describe, UnbelievedError } from '../outcome.js';
import { createListing, type Listing } from './listing.js';
import { type Source, SOURCES } from '../sources.js';
import type { Step } from './step.js';

/** A list that moves while it is read is read again at once, this often; then later. */
const PASSES = 3;
const ASKED_AT_ONCE = 8;

/** Read a whole list and write what changed. An answer that breaks off leaves true rows and says so. */
export async function readList<Name extends ListResource>(step: Step, resource: Name): Promise<void> {
  for (let pass = 1; ; pass += 1) {
    const { state, fault, readAgain } = await readOnce(step, resource, pass);
    if (state === 'complete') return;
    if (!readAgain || pass === PASSES)
      throw new UnbelievedError(state, fault?.message ?? 'the list moved while it was read');
  }
}

async function readOnce<Name extends ListResource>(
  step: Step,
  resource: Name,
  pass: number,
): Promise<Finished> {
  const { client, now, signal, noted } = step;
  const source: Source<Items[Name]> = SOURCES[resource];
  const { options, traffic, status, ownerNamed } = countCalls(signal, now);
  const startedAt = now();
  const full = step.full && pass === 1;
  const read = await begin(step, resource, startedAt, full);
  const limit = (full ? null : read.before?.pageSize) ?? PAGE_ROWS;
  const listing = createListing(step, source, LISTS[resource]);
  try {
    // What is open is looked at each time.
    const knows = source.isOpen === undefined ? read.knows : undefined;
    for await (const part of source.parts(step.organization, { ...options, limit, knows })) {
      listing.take(part);
      if (part.page === null) await read.writeBatch(listing.own(part.items), now());
      else listing.see(await readPage(read, part.page, listing));
      await step.turn();
    }
    const { flaw, total, pageSize, everySeconds } = listing.end();
    const isTold = ownerNamed();
    const outcome = await read.finish({
      total,
      flaw,
      everySeconds,
      ...asking(step, source, options),
      ...(isTold || step.full ? { ownerNamed: isTold } : {}),
      ...(pageSize === null ? {} : { pageSize: pageSize === PAGE_ROWS ? null : pageSize }),
      answer: goodAnswer(source.kind === 'one' ? 'object' : 'list', { total, status: status(), at: now() }),
      ...traffic(),
    });
    noted.ended({ ...outcome, resource, ms: now() - startedAt });
    return outcome;
  } catch (error) {
    noted.ended({ ...NO_ROWS, resource, state: 'failed', ms: now() - startedAt });
    const { code, message } = describe(signal.aborted ? signal.reason : error);
    const answer = badAnswer(error, { status: status(), at: now(), mask: client.http.mask });
    await read.abandon({ code, message }, { ...traffic(), answer });
    throw error;
  }
}

async function readPage<Item extends object>(
  read: Read<Item>,
  { known, unknown, items, arrivedAt }: Page<Item>,
  listing: Pick<Listing<Item>, 'own'>,
): Promise<number> {
  let passed = 0;
  for (const { digest, ids } of known) {
    read.passGroup(digest, ids);
    passed += ids.length;
  }
  if (unknown.length === 0 && known.length > 0) return passed;
  const digests = unknown.map(({ digest }) => digest);
  const { fresh } = await read.writePage(digests, listing.own(items), arrivedAt);
  return passed + fresh;
}

async function begin<Name extends ListResource>(
  { mirror, inbox, installationId, noted, task, trigger, cause }: Step,
  resource: Name,
  startedAt: number,
  full: boolean,
): Promise<Read<Items[Name]>> {
  const announced = async (since: number) => (await inbox.haveCome(installationId, [{ since }]))[0] ?? false;
  const read = await mirror.beginRead({ ...task, resource, trigger, cause, startedAt, full, announced });
  noted.before.set(resource, read.before);
  return read;
}

const NO_ROWS = { added: 0, changed: 0, removed: 0, drift: 0 };

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

async function isUnknown(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked;
    return false;
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'not_found') return true;
    throw error;
  }
}
