import type { Ask, Outcome, Read } from '../../mirror/mirror.js';
import type { Fault } from '../../mirror/port.js';
import { RegistryError } from '../../registry/errors.js';
import { type ListOptions, PAGE_ROWS, type Page, type ReadOptions } from '../../registry/reading.js';
import { type Items, type ListResource, LISTS } from '../../resources/lists.js';
import { badAnswer, goodAnswer } from './answer.js';
import { inLanes } from '../worker/lanes.js';
import { observe } from './observe.js';
import { describe, UnsettledError } from '../outcome.js';
import { createOwnRows } from './own-rows.js';
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
      throw new UnsettledError(state, fault?.message ?? 'the list moved while it was read');
  }
}

async function readOnce<Name extends ListResource>(
  step: Step,
  resource: Name,
  pass: number,
): Promise<Outcome> {
  const { mirror, inbox, client, now, signal, noted, task, trigger, cause } = step;
  const source = SOURCES[resource];
  const { options, traffic, status, ownerTold } = observe(signal, now);
  const startedAt = now();
  const announced = async (since: number) =>
    (await inbox.haveCome(step.installationId, [{ since }]))[0] ?? false;
  const read = await mirror.beginRead({ ...task, resource, trigger, cause, startedAt, announced });
  noted.before.set(resource, read.before);
  const limit = (step.full && pass === 1 ? null : read.before?.pageSize) ?? PAGE_ROWS;
  try {
    const { flaw, total, pageSize } = await writeParts(step, resource, read, { ...options, limit });
    const isTold = ownerTold();
    const outcome = await read.finish({
      total,
      flaw,
      ...asking(step, source, options),
      ...(isTold || step.full ? { ownerTold: isTold } : {}),
      ...(pageSize === null ? {} : { pageSize: pageSize === PAGE_ROWS ? null : pageSize }),
      answer: goodAnswer(source.kind, { total, status: status(), at: now() }),
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

const NO_ROWS = { added: 0, changed: 0, removed: 0, drift: 0 };

interface Listed {
  /** Why this is not the whole list. */
  readonly flaw: Fault | null;
  /** How many rows the registry says the list has; null where it does not say. */
  readonly total: number | null;
  /** Rows that a page was asked for in the end; null where there are no pages. */
  readonly pageSize: number | null;
}

/** Write each part as it comes. */
async function writeParts<Name extends ListResource>(
  step: Step,
  resource: Name,
  read: Read<Items[Name]>,
  options: ListOptions,
): Promise<Listed> {
  const source: Source<Items[Name]> = SOURCES[resource];
  const own = createOwnRows<Items[Name]>(step.organizationId, LISTS[resource].key);
  let last: Page<Items[Name]> | null = null;
  let seen = 0;
  for await (const { items, page } of source.parts(step.organization, options)) {
    const holdEnd = source.nextEnd?.(items, registryNow(step)) ?? null;
    if (holdEnd !== null) step.noted.holdEnds(holdEnd);
    const ours = own.of(items);
    if (page === null) await read.writeBatch(ours, step.now());
    else seen += (await read.writePage(page.number, ours, page.arrivedAt, page.digest)).fresh;
    last = page;
    await step.turn();
  }
  if (source.kind === 'paged') demandEnd(last, seen);
  return { flaw: own.flaw(), total: last?.total ?? null, pageSize: last?.limit ?? null };
}

function demandEnd(last: Page<unknown> | null, seen: number): void {
  if (last !== null && (last.end === 'complete' || last.total === seen)) return;
  const came = last?.end ?? 'missing';
  throw new RegistryError('bad_answer', `the list did not end as lists do: its last page is ${came}`);
}

function registryNow({ now, client }: Step): number {
  return now() + (client.http.clockSkewMs() ?? 0);
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

async function isUnknown(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked;
    return false;
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'not_found') return true;
    throw error;
  }
}
