import type { Ask, Outcome, Read } from '../../mirror/mirror.js';
import type { Fault, LastRead } from '../../mirror/port.js';
import { RegistryError } from '../../registry/errors.js';
import { PAGE_ROWS, type Page, type ReadOptions } from '../../registry/reading.js';
import { type Items, type ListResource, LISTS } from '../../resources/lists.js';
import { badAnswer, goodAnswer } from './answer.js';
import { inLanes } from '../worker/lanes.js';
import { observe } from './observe.js';
import { describe, UnsettledError } from '../outcome.js';
import { createOwnRows } from './own-rows.js';
import { type Source, SOURCES } from '../sources.js';
import type { Noted, Step } from './step.js';

/** A list that moves while it is read is read again at once, this often; then later. */
const PASSES = 3;
const ASKED_AT_ONCE = 8;

interface Wanted<Name extends ListResource> {
  readonly resource: Name;
  readonly source: Source<Items[Name]>;
  /** Start of the last complete read. */
  readonly completeAt: number | null;
}

/** Read a whole list and write what changed. An answer that breaks off leaves true rows and says so. */
export async function readList<Name extends ListResource>(
  step: Step,
  resource: Name,
  before: LastRead | null,
  noted: Noted,
): Promise<void> {
  const wanted = { resource, source: SOURCES[resource], completeAt: before?.completeAt ?? null };
  let rows = step.full ? PAGE_ROWS : (before?.pageSize ?? PAGE_ROWS);
  for (let pass = 1; ; pass += 1) {
    const { outcome, pageSize } = await readOnce(step, wanted, rows, noted);
    if (outcome.state === 'complete') return;
    if (!outcome.readAgain || pass === PASSES)
      throw new UnsettledError(outcome.state, outcome.fault?.message ?? 'the list moved while it was read');
    rows = pageSize ?? rows;
  }
}

async function readOnce<Name extends ListResource>(
  step: Step,
  wanted: Wanted<Name>,
  rows: number,
  noted: Noted,
): Promise<{ readonly outcome: Outcome; readonly pageSize: number | null }> {
  const { client, now, signal } = step;
  const { resource, source } = wanted;
  const { options, traffic, status, ownerTold } = observe(signal, now);
  const startedAt = now();
  const read = await begin(step, wanted, startedAt);
  try {
    const { flaw, total, pageSize } = await writeParts(
      step,
      wanted,
      read,
      { ...options, limit: rows },
      noted,
    );
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
    noted.ends.push({ ...outcome, resource, ms: now() - startedAt });
    return { outcome, pageSize };
  } catch (error) {
    noted.ends.push({ ...NO_ROWS, resource, state: 'failed', ms: now() - startedAt });
    const { code, message } = describe(signal.aborted ? signal.reason : error);
    const answer = badAnswer(error, { status: status(), at: now(), mask: client.http.mask });
    await read.abandon({ code, message }, { ...traffic(), answer });
    throw error;
  }
}

const NO_ROWS = { added: 0, changed: 0, removed: 0, drift: 0 };

async function begin<Name extends ListResource>(
  { inbox, mirror, installationId, task, trigger, cause }: Step,
  { resource, completeAt }: Wanted<Name>,
  startedAt: number,
): Promise<Read<Items[Name]>> {
  const { organizationId, claim } = task;
  const asked = completeAt === null ? [] : [{ since: completeAt }];
  const [announced = false] = await inbox.haveCome(installationId, asked);
  return mirror.beginRead({ organizationId, claim, resource, trigger, cause, startedAt, announced });
}

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
  { resource, source }: Wanted<Name>,
  read: Read<Items[Name]>,
  options: ReadOptions & { readonly limit: number },
  noted: Noted,
): Promise<Listed> {
  const own = createOwnRows<Items[Name]>(step.organizationId, LISTS[resource].key);
  let last: Page<Items[Name]> | null = null;
  let seen = 0;
  for await (const { items, page } of source.parts(step.organization, options)) {
    noteHoldEnd(source.nextEnd?.(items, registryNow(step)) ?? null, noted);
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

function noteHoldEnd(at: number | null, noted: Noted): void {
  if (at !== null) noted.holdEnd = Math.min(noted.holdEnd ?? at, at);
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
