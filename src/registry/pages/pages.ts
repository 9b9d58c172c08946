import { hash } from 'node:crypto';
import type { Call, Http } from '../http/calls.js';
import { cutPage, type Element, knownPage } from './cut-page.js';
import { RegistryError } from '../errors.js';
import { isObject } from '../model.js';
import { type Source, sourceOf } from '../json/fields.js';
import { type Pagination, readPagination, whatFollows } from './pagination.js';
import { readOwner } from '../owner.js';
import { createReadAhead } from './read-ahead.js';
import { smallerPage } from './page-size.js';
import { type ListOptions, PAGE_ROWS, type Page, type RowGroup, type UnreadableRow } from '../reading.js';
import { parseRow } from './rows.js';
import { createSeen, fingerprint, type Seen } from './seen.js';

/** Where a registry does not say how long a list is, it still has to end. */
const MAX_PAGES = 100_000;

export interface ListCall<T> {
  readonly http: Http;
  readonly call: Call;
  /** The name of the array in the answer. */
  readonly key: string;
  readonly parse: (source: Source) => T;
  /** Under which a row says its id. */
  readonly idNames?: readonly string[];
  /** Where an answer says whose list it is, it must be this one's. */
  readonly organizationId?: string;
}

interface RawPage<T>
  extends Pick<
    Page<T>,
    'rows' | 'isKnown' | 'items' | 'known' | 'unknown' | 'bytes' | 'digest' | 'arrivedAt'
  > {
  /** As its rows say them; none of a page that is known. */
  readonly ids: readonly string[];
  readonly unreadable: readonly UnreadableRow[];
  readonly pagination: Pagination;
}

/** What was read of a list so far, whatever the size of its pages. */
interface Progress {
  readonly seen: Seen;
  /** Digests of pages that are known. */
  readonly passed: Set<string>;
  rows: number;
  pages: number;
}

/**
 * The pages of a list, in order, a few of them asked for ahead.
 * It ends where the list ends, at a page that brings nothing new, and two pages after there can be no more.
 * A registry that refuses pages of this size is asked for smaller ones, from the same place on.
 */
export async function* listPages<T>(list: ListCall<T>, options: ListOptions = {}): AsyncGenerator<Page<T>> {
  const wish = {
    ...options,
    limit: wholeNumber('limit', options.limit ?? PAGE_ROWS),
    readAhead: wholeNumber('readAhead', options.readAhead ?? 4),
  };
  const progress = { seen: createSeen(), passed: new Set<string>(), rows: 0, pages: 0 };
  for (let limit = wish.limit; ; ) {
    try {
      yield* readOn(list, { ...wish, limit }, progress);
      return;
    } catch (error) {
      limit = smallerPage(error, limit);
    }
  }
}

/** From the page that holds the first row not yet seen; it may hold some that were. */
async function* readOn<T>(
  list: ListCall<T>,
  { limit, readAhead, ...options }: ListOptions & Required<Pick<ListOptions, 'limit' | 'readAhead'>>,
  progress: Progress,
): AsyncGenerator<Page<T>> {
  const stop = linkedAbort(options.signal);
  const first = Math.floor(progress.rows / limit);
  const ahead = createReadAhead(readAhead, first, number =>
    readPage(list, number, { ...options, limit, signal: stop.signal }),
  );
  let expect = first + 1;
  let most = MAX_PAGES;
  let pageSize = 1;

  /** A short page that says nothing is all there is if the next one is empty, or the same again. */
  async function isAll(page: RawPage<T>, number: number): Promise<boolean> {
    ahead.allow(Math.min(number + 2, most));
    const following = await ahead.look();
    return following === undefined || following.rows === 0 || following.digest === page.digest;
  }

  try {
    for (let number = first; ; number += 1) {
      ahead.allow(Math.min(Math.max(expect, number + 1), most));
      const page = await ahead.take();
      if (page === undefined) return;
      const { rows } = page;
      const { total, pageCount } = page.pagination;
      const follows = whatFollows(page.pagination, number, rows, limit);
      const last = follows === 'unsaid' ? await isAll(page, number) : follows === 'nothing';
      if (number === first) {
        pageSize = Math.max(rows, 1);
        const pages = total === null ? null : Math.ceil(total / pageSize);
        most = Math.min((pages ?? MAX_PAGES) + 2, MAX_PAGES);
        if (!last) expect = Math.min(pages ?? pageCount ?? 1, pageCount ?? pages ?? 1);
      }
      const fresh = freshOn(page, progress);
      const end = endOf({ last, repeated: rows > 0 && fresh === 0, over: number + 1 >= most });
      if (end === null) ahead.allow(Math.min(expect, most));
      const { pagination: _, ids: __, unreadable, ...rest } = page;
      const place = { number: progress.pages, total, limit, pageSize };
      progress.rows += fresh;
      progress.pages += 1;
      for (const each of unreadable) options.onUnreadable?.(each);
      yield { ...rest, ...place, last: end !== null, end };
      if (end !== null) return;
    }
  } finally {
    ahead.close();
    stop.abort();
  }
}

/** How many of its rows came for the first time. */
function freshOn({ isKnown, digest, rows, ids }: RawPage<unknown>, { seen, passed }: Progress): number {
  if (!isKnown) return ids.reduce((sum, id) => sum + (seen.add(id) ? 1 : 0), 0);
  const isRepeated = passed.has(digest);
  passed.add(digest);
  return isRepeated ? 0 : rows;
}

function endOf({
  last,
  repeated,
  over,
}: {
  last: boolean;
  repeated: boolean;
  over: boolean;
}): Page<unknown>['end'] {
  if (repeated) return 'repeated';
  if (last) return 'complete';
  return over ? 'endless' : null;
}

async function readPage<T>(
  { http, call, key, parse, idNames = ['id'], organizationId }: ListCall<T>,
  page: number,
  { limit, signal, onCall, onOwner, onUnreadable, known: remembered }: ListOptions,
): Promise<RawPage<T>> {
  const query = { ...call.query, limit: String(limit), page: String(page) };
  const { body } = await http.call({ ...call, query, signal, onCall });
  const arrivedAt = http.localNow();
  const passed = remembered === undefined ? null : knownPage(body, key, remembered.rowsOf);
  const cut = passed ?? cutPage(body, key);
  const owner = organizationId === undefined ? null : readOwner(cut.envelope, organizationId);
  onOwner?.(owner);
  const answer = {
    pagination: readPagination(cut.envelope),
    bytes: body.length,
    digest: cut.digest,
    arrivedAt,
  };
  if (!('elements' in cut))
    return {
      ...answer,
      rows: cut.rows,
      isKnown: true,
      ids: [],
      items: [],
      unreadable: [],
      known: [],
      unknown: [],
    };
  const { elements } = cut;
  const ids = elements.map(({ value }) => idIn(value, idNames));
  const groups = [...groupsOf(elements, ids)];
  const known = groups.filter(({ digest }) => remembered?.hasGroup(digest) ?? false);
  const unknown = known.length === 0 ? groups : groups.filter(group => !known.includes(group));
  const unreadable: UnreadableRow[] = [];
  /** Pages are read ahead: a row is reported when its page is taken. */
  const note = onUnreadable === undefined ? undefined : (row: UnreadableRow) => void unreadable.push(row);
  const items = unknown.flatMap(({ start, ids: { length } }) =>
    elements
      .slice(start, start + length)
      .flatMap(({ text, value }, at) =>
        parseRow(sourceOf(text, value, `${key}[${start + at}]`), parse, note),
      ),
  );
  return { ...answer, rows: ids.length, isKnown: false, ids, items, unreadable, known, unknown };
}

/** So many rows are a group, on average. */
const GROUP_ROWS = 8;

function* groupsOf(
  elements: readonly Element[],
  ids: readonly string[],
): Generator<RowGroup & { readonly start: number }> {
  let start = 0;
  let text = '';
  for (const [at, element] of elements.entries()) {
    text += element.text;
    const next = at + 1;
    if (next < elements.length && fingerprint(ids[at] ?? '') % GROUP_ROWS !== 0) continue;
    yield { digest: hash('sha256', text), ids: ids.slice(start, next), start };
    start = next;
    text = '';
  }
}

/** Only to tell rows apart: what is no id is refused when the row is parsed. */
function idIn(value: unknown, names: readonly string[]): string {
  if (!isObject(value)) return '';
  for (const name of names) {
    const id = value[name];
    if (typeof id === 'string') return id;
  }
  return '';
}

function wholeNumber(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RegistryError('bad_request', `${name}: expected a whole number above 0, came ${value}`);
}

/** Aborts with the caller's signal, and leaves nothing on it behind. */
function linkedAbort(signal: AbortSignal | undefined) {
  const own = new AbortController();
  const forward = () => own.abort(signal?.reason);
  if (signal?.aborted === true) forward();
  signal?.addEventListener('abort', forward, { once: true });
  return {
    signal: own.signal,
    abort: () => {
      signal?.removeEventListener('abort', forward);
      own.abort();
    },
  };
}
