import { describe, expect, test } from 'vitest';
import {
  observeBatches,
  observePages,
  type ObservationOptions,
} from '../../src/registry/pages/paged-lists.js';
import type { ListOptions, UnreadableRow } from '../../src/registry/read-types.js';
import { parseCredit } from '../../src/registry/json/parse-objects.js';
import { readBatches } from '../../src/registry/pages/read-batches.js';
import {
  collect,
  createInstallationTokenSource,
  createTestClients,
  createTestHttpClient,
  startLoopbackServer,
} from '../support/registry-client.js';

interface RequestedPage {
  readonly limit: number;
  readonly page: number;
}

/** Creates the answer to a request for a page. */
type CreatePage = (requested: RequestedPage) => unknown;

const createRow = (number: number) => ({ id: `ret-${number}`, amount: number });
const createRows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => createRow(from + index));

/** Creates the pages of a correct registry with `total` rows and at most `maxPageSize` rows on a page. */
function createHonestRegistry(total: number, maxPageSize = Infinity): CreatePage {
  return ({ limit, page }) => {
    const size = Math.min(limit, maxPageSize);
    const pageCount = Math.ceil(total / size);
    const nextPage = page + 1 < pageCount ? page + 1 : null;
    return {
      pagination: { total, currentPage: page, pageCount, nextPage, prevPage: Math.max(page - 1, 0) },
      retirements: createRows(page * size, Math.min((page + 1) * size, total)),
    };
  };
}

/** Starts a registry that answers with these pages, and records the pages that were requested. */
async function startListRegistry(answer: CreatePage) {
  const asked: RequestedPage[] = [];
  const registry = await startLoopbackServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x');
    const requested = { limit: Number(searchParams.get('limit')), page: Number(searchParams.get('page')) };
    asked.push(requested);
    const body = answer(requested);
    response.statusCode = Number(Object(body)['statusCode'] ?? 200);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  return { client: createTestClients(registry.url).organization, asked };
}

/** Reads a list from a registry that answers with these pages. */
async function readList(answer: CreatePage, options: ListOptions & ObservationOptions = {}) {
  const { client, asked } = await startListRegistry(answer);
  const pages = await collect(observePages(client.listRetirements(options), options));
  const ids = pages.flatMap(({ items }) => items.map(({ id }) => id));
  return { pages, ids, asked, end: pages.at(-1)?.end };
}

const createIds = (count: number) => createRows(0, count).map(({ id }) => id);

const createAnswer = (pagination: unknown, from: number, to: number) => ({
  pagination,
  retirements: createRows(from, to),
});

const loop: CreatePage = ({ page }) => ({
  pagination: { total: 1_000, pageCount: 10, nextPage: page + 1 },
  retirements: createRows(0, 100),
});

const endless: CreatePage = ({ page }) => ({
  pagination: { total: 1_000, nextPage: page + 1 },
  retirements: createRows(page * 100, page * 100 + 100),
});

test('T47 pages that are too large are requested in smaller ones, with the same result', async () => {
  const long = { comment: 'x'.repeat(30_000) };
  const { ids, asked } = await readList(({ limit, page }) => ({
    ...Object(createHonestRegistry(150)({ limit, page })),
    retirements: createRows(page * limit, Math.min((page + 1) * limit, 150)).map(one => ({
      ...one,
      ...long,
    })),
  }));
  expect(new Set(ids)).toEqual(new Set(createIds(150)));
  expect(asked[0]?.limit).toBe(100);
  expect(asked.at(-1)?.limit).toBe(50);
});

test('T47 a page with more rows than requested is read, up to 10,000', async () => {
  const { ids } = await readList(() => ({ retirements: createRows(0, 10_000) }));
  expect(ids).toHaveLength(10_000);
  await expect(readList(() => ({ retirements: createRows(0, 10_001) }))).rejects.toMatchObject({
    code: 'too_large',
  });
});

test('T47 a page with too many small objects is refused before it is parsed', async () => {
  const objects = (count: number) => ({
    retirements: [{ id: 'r', x: Array.from({ length: count }, () => ({})) }],
  });
  expect((await readList(() => objects(99_000))).ids).toEqual(['r']);
  await expect(readList(() => objects(100_000))).rejects.toMatchObject({
    code: 'bad_answer',
    message: expect.stringContaining('100000 objects'),
  });
});

test('T47 long rows of a streamed list are yielded in smaller batches', async () => {
  const credits = Array.from({ length: 30 }, (_, index) => ({ id: `c-${index}`, unit: 'x'.repeat(100_000) }));
  const registry = await startLoopbackServer((_request, response) => {
    response.end(JSON.stringify({ credits }));
  });
  const warehouse = createTestClients(registry.url).organization.listWarehouse();
  const batches = await collect(observeBatches(warehouse));
  expect(batches.map(batch => batch.length)).toEqual([11, 11, 8]);
});

test('a streamed list that has already arrived gives the event loop a turn every 256 kB', async () => {
  const credits = Array.from({ length: 30 }, (_, index) => ({ id: `c-${index}`, unit: 'x'.repeat(100_000) }));
  async function* createBody() {
    yield Buffer.from(JSON.stringify({ credits }));
  }
  const response = {
    status: 200,
    contentLength: null,
    fileName: null,
    isWhole: true,
    cancel: async () => {},
  };
  const http = {
    ...createTestHttpClient('http://127.0.0.1'),
    stream: async () => ({ ...response, body: createBody() }),
  };
  const request = { method: 'GET', route: '/credits', token: createInstallationTokenSource() } as const;
  let turns = 0;
  const countTurn = () => {
    turns += 1;
    immediate = setImmediate(countTurn);
  };
  let immediate = setImmediate(countTurn);
  const list = { http, request, key: 'credits', parse: parseCredit, organizationId: 'org-1' };
  expect((await collect(readBatches(list))).flat()).toHaveLength(30);
  clearImmediate(immediate);
  expect(turns).toBeGreaterThan(5);
});

test('a reader that stops after a page aborts the requests for the next ones', async () => {
  let heldRequests = 0;
  let abortedRequests = 0;
  const registry = await startLoopbackServer((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page'));
    if (page === 0) {
      response.end(JSON.stringify(createHonestRegistry(1000)({ limit: 100, page })));
      return;
    }
    heldRequests += 1;
    response.once('close', () => (abortedRequests += 1));
  });
  const list = createTestClients(registry.url, { deadlineMs: 600_000 }).organization.listRetirements({
    readAhead: 2,
  });
  for await (const page of observePages(list)) {
    expect(page.items).toHaveLength(100);
    await expect.poll(() => heldRequests).toBe(2);
    break;
  }
  await expect.poll(() => abortedRequests).toBe(2);
});

test('T35 a list that names another organization is a bad answer', async () => {
  const answer = { ...Object(createHonestRegistry(3)({ limit: 100, page: 0 })), organizationId: 'org-2' };
  await expect(readList(() => answer)).rejects.toMatchObject({ code: 'bad_answer' });
  const { ids } = await readList(() => ({ ...answer, organizationId: 'ORG-1' }));
  expect(ids).toEqual(createIds(3));
});

describe('a list', () => {
  test.each([
    [0, 1],
    [1, 1],
    [99, 1],
    [100, 1],
    [101, 2],
    [1234, 13],
  ])('of %i rows takes %i requests and is yielded in order', async (total, requests) => {
    const { ids, asked, pages, end } = await readList(createHonestRegistry(total));
    expect(ids).toEqual(createIds(total));
    expect(asked).toHaveLength(requests);
    expect(new Set(asked.map(({ page }) => page)).size).toBe(requests);
    expect(pages.map(({ number }) => number)).toEqual(pages.map((_, index) => index));
    expect(pages.map(({ isLast: last }) => last)).toEqual(
      pages.map((_, index) => index === pages.length - 1),
    );
    expect(end).toBe('complete');
    expect(pages[0]?.total).toBe(total);
  });

  test('states the size of the pages that the registry really sent', async () => {
    const { ids, pages, asked } = await readList(createHonestRegistry(120, 50), { limit: 100 });
    expect(ids).toEqual(createIds(120));
    expect(pages.map(({ pageSize }) => pageSize)).toEqual([50, 50, 50]);
    expect(asked.every(({ limit }) => limit === 100)).toBe(true);
  });

  test('requests pages ahead, but never more at once than allowed', async () => {
    let running = 0;
    let most = 0;
    /** Answers the first page at once, and the others only when three requests are waiting. */
    const held: (() => void)[] = [];
    const registry = await startLoopbackServer((request, response) => {
      running += 1;
      most = Math.max(most, running);
      const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page'));
      held.push(() => {
        running -= 1;
        response.end(JSON.stringify(createHonestRegistry(2_000)({ limit: 100, page })));
      });
      if (page === 0 || most >= 3) for (const answer of held.splice(0)) setTimeout(answer, 10);
    });
    const client = createTestClients(registry.url).organization;
    const pages = await collect(client.listRetirements({ readAhead: 3 }).pages());
    expect(pages).toHaveLength(20);
    expect(most).toBe(3);
  });

  test('gives equal rows equal digests, whatever else the answer contains', async () => {
    const before = await readList(createHonestRegistry(150));
    const after = await readList(createHonestRegistry(151));
    const digests = (pages: typeof before.pages) => pages.map(({ digest }) => digest);
    expect(digests(after.pages)[0]).toBe(digests(before.pages)[0]);
    expect(digests(after.pages)[1]).not.toBe(digests(before.pages)[1]);
    expect(digests(before.pages)[0]).toMatch(/^[0-9a-f]{64}$/);
  });

  const NOTHING = { getRowCount: () => undefined, hasGroup: () => false };

  /** Reads a list and returns known rows that contain all of its pages. */
  async function rememberPages(answer: CreatePage) {
    const { pages } = await readList(answer);
    const getRowCount = (digest: string) => pages.find(page => page.digest === digest)?.rows;
    return { ...NOTHING, getRowCount };
  }

  test('does not parse the rows of a known group, but states their ids', async () => {
    const [changed, ...others] = (await readList(createHonestRegistry(250))).pages[1]?.unknownGroups ?? [];
    const groups = new Set(others.map(({ digest }) => digest));
    const known = { ...NOTHING, hasGroup: (digest: string) => groups.has(digest) };
    const { pages } = await readList(createHonestRegistry(250), { knownRows: known });
    expect(pages.map(({ items }) => items.length)).toEqual([100, changed?.ids.length, 50]);
    expect(
      pages
        .flatMap(page => [...page.knownGroups, ...page.unknownGroups].flatMap(({ ids }) => ids))
        .toSorted(),
    ).toEqual(createIds(250).toSorted());
    const broken: CreatePage = requested =>
      requested.page === 1
        ? { ...Object(createHonestRegistry(250)(requested)), retirements: [{ amount: 1 }] }
        : createHonestRegistry(250)(requested);
    await expect(readList(broken)).rejects.toMatchObject({ code: 'bad_answer' });
    expect((await readList(broken, { knownRows: { ...NOTHING, hasGroup: () => true } })).pages).toHaveLength(
      3,
    );
  });

  test('does not parse the rows of a known page, whatever its envelope', async () => {
    const { pages } = await readList(createHonestRegistry(251), {
      knownRows: await rememberPages(createHonestRegistry(250)),
    });
    expect(pages.map(page => [page.isKnown, page.rows, page.total])).toEqual([
      [true, 100, 251],
      [true, 100, 251],
      [false, 51, 251],
    ]);
    expect(pages.map(({ items }) => items.length)).toEqual([0, 0, 51]);
  });

  test('recognizes a known page only by the list of the answer', async () => {
    const known = await rememberPages(createHonestRegistry(100));
    const list = JSON.stringify(createRows(0, 100));
    const pagination = '"pagination":{"total":100,"pageCount":1,"nextPage":null}';
    const { pages } = await readList(() => `{"retirements":${list},${pagination}}`, { knownRows: known });
    expect(pages.map(({ isKnown }) => isKnown)).toEqual([true]);
    for (const other of [
      `{"retirements":${list},${pagination}`,
      `{"retirements":${list},"retirements":[],${pagination}}`,
      `{"other":{"retirements":${list}},"retirements":[],${pagination}}`,
      `{"other":{"retirements":${list}},${pagination}}`,
    ]) {
      const answered = await readList(() => other, { knownRows: known }).then(
        found => found.pages.filter(({ isKnown }) => isKnown),
        () => [],
      );
      expect(answered).toEqual([]);
    }
  });

  test('ends as repeated if a known page is sent again', async () => {
    const known = await rememberPages(createHonestRegistry(100));
    const { pages } = await readList(
      ({ limit }) => ({ ...Object(createHonestRegistry(300)({ page: 0, limit })) }),
      {
        knownRows: known,
      },
    );
    expect(pages.map(({ end }) => end)).toEqual([null, 'repeated']);
  });

  test('keeps most groups when a row is inserted at the front', async () => {
    const digestsOf = async (listed: readonly object[]) => {
      const { pages } = await readList(({ page, limit }) => ({
        ...Object(createHonestRegistry(listed.length)({ page, limit })),
        retirements: listed.slice(page * limit, page * limit + limit),
      }));
      return pages.flatMap(({ unknownGroups }) => unknownGroups.map(({ digest }) => digest));
    };
    const listed: readonly object[] = createRows(0, 1_000);
    const before = new Set(await digestsOf(listed));
    const shifted = await digestsOf([{ ...listed[0], id: 'new' }, ...listed]);
    expect(shifted.filter(digest => !before.has(digest)).length).toBeLessThan(shifted.length / 3);
  });

  test.each([0, -1, 1.5, Number.NaN])('refuses the limit %d', async limit => {
    await expect(readList(createHonestRegistry(1), { limit })).rejects.toMatchObject({ code: 'bad_request' });
  });

  test('requests no more pages after its iteration is left early', async () => {
    const { client, asked } = await startListRegistry(createHonestRegistry(10_000));
    for await (const page of observePages(client.listRetirements({ readAhead: 2 })))
      if (page.number === 1) break;
    expect(Math.max(...asked.map(({ page }) => page))).toBeLessThanOrEqual(6);
  });
});

describe('the list of a client', () => {
  test('yields items, or pages of items with a cursor and the total', async () => {
    const { client } = await startListRegistry(createHonestRegistry(250));
    const list = client.listRetirements();
    const ids = (await collect(list)).map(({ id }) => id);
    expect(ids).toEqual(createIds(250));
    const pages = await collect(list.pages());
    expect(pages.map(({ items, ...page }) => [items.length, page])).toEqual([
      [100, { total: 250, cursor: '1-100-100' }],
      [100, { total: 250, cursor: '2-100-200' }],
      [50, { total: 250, cursor: null }],
    ]);
  });

  test.each([
    ['full pages', createHonestRegistry(250), 100],
    ['pages that the registry makes smaller', createHonestRegistry(250, 30), 30],
  ])('goes on after the page whose cursor is given: %s', async (_name, answer, pageSize) => {
    const { client, asked } = await startListRegistry(answer);
    let cursor: string | undefined;
    for await (const page of client.listRetirements({ limit: 100 }).pages()) {
      cursor = page.cursor ?? undefined;
      break;
    }
    asked.length = 0;
    const rest = await collect(client.listRetirements({ cursor, limit: 7 }));
    expect(rest.map(({ id }) => id)).toEqual(createIds(250).slice(pageSize));
    expect(asked[0]).toEqual({ limit: 100, page: 1 });
  });

  test('reads no row twice and skips none if the registry refuses the page size of a cursor', async () => {
    let maxPageSize = 100;
    const { client } = await startListRegistry(requested =>
      requested.limit > maxPageSize
        ? { statusCode: 400, message: `limit must not exceed ${maxPageSize}` }
        : createHonestRegistry(250)(requested),
    );
    const [first] = await collect(client.listRetirements().pages());
    maxPageSize = 50;
    const rest = await collect(client.listRetirements({ cursor: first?.cursor ?? undefined }));
    expect(rest.map(({ id }) => id)).toEqual(createIds(250).slice(100));
  });

  test.each(['', 'x', '1-0-0', '1-100', '-1-100-0', '1-100-0-0'])('refuses the cursor %j', async cursor => {
    const { client, asked } = await startListRegistry(createHonestRegistry(1));
    await expect(collect(client.listRetirements({ cursor }))).rejects.toMatchObject({ code: 'bad_request' });
    expect(asked).toEqual([]);
  });

  test.each([
    ['retirements', 'listRetirements'],
    ['credits', 'listWarehouse'],
    ['members', 'listMembers'],
  ] as const)('reports an unreadable row and yields the others: %s', async (name, method) => {
    const rows = [{ id: 'a', fullName: 'A' }, {}, { id: 'c', fullName: 'C' }];
    const { client } = await startListRegistry(() => ({ [name]: rows, pagination: { nextPage: null } }));
    const unreadable: UnreadableRow[] = [];
    const items = await collect<object>(client[method]({ onUnreadable: row => void unreadable.push(row) }));
    expect(items).toMatchObject([rows[0], rows[2]].map(row => ({ document: JSON.stringify(row) })));
    expect(unreadable).toMatchObject([{ object: { text: '{}' }, error: { code: 'bad_answer' } }]);
    await expect(collect<object>(client[method]())).rejects.toMatchObject({ code: 'bad_answer' });
  });

  test('fails after its last page if it has no proper end', async () => {
    const { client } = await startListRegistry(loop);
    const seen: string[] = [];
    const read = async () => {
      for await (const { id } of client.listRetirements()) seen.push(id);
    };
    await expect(read()).rejects.toMatchObject({
      code: 'bad_answer',
      message: 'the list has no proper end: its last page is repeated',
    });
    expect(new Set(seen)).toEqual(new Set(createIds(100)));
  });

  test('is complete if a repeated page follows as many rows as the registry states', async () => {
    const { client } = await startListRegistry(({ page }) => ({
      pagination: { total: 100, nextPage: page + 1 },
      retirements: createRows(0, 100),
    }));
    const pages = await collect(client.listRetirements().pages());
    expect(pages.length).toBeGreaterThan(0);
  });
});

/** Creates the pages of a correct registry that refuses requests above a page size, which may change. */
function createStrictRegistry(
  total: number,
  getMaxPageSize: (requested: RequestedPage) => number,
  formatMessage: (most: number) => string,
): CreatePage {
  return requested => {
    const maxPageSize = getMaxPageSize(requested);
    return requested.limit <= maxPageSize
      ? createHonestRegistry(total)(requested)
      : { statusCode: 400, message: formatMessage(maxPageSize), error: 'Bad Request' };
  };
}

describe('a registry that refuses the page size', () => {
  const named = (most: number) => `limit must not be greater than ${most}`;
  const refused = () => 'Validation failed';

  test.each([
    ['named', 50, named, [50], 2],
    ['named, and odd', 30, named, [30], 2],
    ['not named', 25, refused, [25], 3],
    ['named in a list of faults', 12, (most: number) => `page: fine; limit: 1 to ${most}`, [12], 2],
  ])('is asked for smaller pages if its limit is %s', async (_name, most, message, sizes, tries) => {
    const { ids, asked, end, pages } = await readList(
      createStrictRegistry(234, () => most, message),
      { readAhead: 1 },
    );
    expect(ids).toEqual(createIds(234));
    expect(end).toBe('complete');
    expect([...new Set(pages.map(({ limit }) => limit))]).toEqual(sizes);
    expect(asked.filter(({ page }) => page === 0)).toHaveLength(tries);
    expect(pages.map(({ number }) => number)).toEqual(pages.map((_, index) => index));
  });

  test.each([
    [100, 50],
    [100, 30],
    [60, 45],
  ])(
    'in the middle of a list with pages of %i rows, is read on from the same place with %i',
    async (before, after) => {
      const answer = createStrictRegistry(700, ({ limit, page }) => (page < 3 ? limit : after), named);
      const { ids, asked, end, pages } = await readList(answer, { limit: before });
      expect(new Set(ids)).toEqual(new Set(createIds(700)));
      expect(end).toBe('complete');
      expect(ids.length - 700).toBeLessThan(after);
      const later = asked.filter(({ limit }) => limit === after);
      expect(Math.min(...later.map(({ page }) => page))).toBe(Math.floor((3 * before) / after));
      expect(pages.map(({ number }) => number)).toEqual(pages.map((_, index) => index));
    },
  );

  test('fails the read if it refuses even ten rows', async () => {
    const asked: number[] = [];
    const answer = createStrictRegistry(
      5,
      ({ limit }) => {
        asked.push(limit);
        return 0;
      },
      refused,
    );
    await expect(readList(answer, { readAhead: 1 })).rejects.toMatchObject({ code: 'invalid', status: 400 });
    expect(asked).toEqual([100, 50, 25, 12, 10]);
  });

  test('is distinguished from a registry that refuses something else', async () => {
    const asked: number[] = [];
    const answer: CreatePage = ({ limit }) => {
      asked.push(limit);
      return { statusCode: 409, message: 'limit 10' };
    };
    await expect(readList(answer, { readAhead: 1 })).rejects.toMatchObject({ code: 'conflict' });
    expect(asked).toEqual([100]);
  });
});

describe('a list whose end is not stated', () => {
  test.each<[string, CreatePage, number, number]>([
    ['nextPage is null', () => createAnswer({ total: 500, nextPage: null }, 0, 100), 1, 100],
    [
      'the last page names itself as next',
      ({ page: at }) => createAnswer({ pageCount: 2, nextPage: 1 }, at * 100, at * 100 + 100),
      2,
      200,
    ],
    [
      'only pageCount is there',
      ({ page: at }) => createAnswer({ pageCount: 3 }, at * 100, at * 100 + 100),
      3,
      300,
    ],
    ['nothing is said and everything came', () => ({ retirements: createRows(0, 250) }), 1, 250],
    [
      'nothing is said, the page is short and so is each one',
      () => ({ retirements: createRows(0, 99) }),
      2,
      99,
    ],
    [
      'nothing is said and fewer rows are served than asked for',
      ({ page: at }) => ({ retirements: createRows(at * 40, Math.min(at * 40 + 40, 100)) }),
      4,
      100,
    ],
    [
      'nothing is said and the page is full',
      ({ page: at }) => ({ retirements: at === 0 ? createRows(0, 100) : [] }),
      2,
      100,
    ],
    [
      'the page is empty',
      ({ page: at }) => createAnswer({ nextPage: at + 1 }, 0, at === 0 ? 100 : 0),
      2,
      100,
    ],
    ['pagination is nonsense', () => createAnswer('x', 0, 50), 2, 50],
    ['pagination is of nonsense', () => createAnswer({ total: 'many', pageCount: -1 }, 0, 50), 2, 50],
    [
      'the next page is named in a way of its own',
      ({ page: at }) => createAnswer({ nextPage: `/${at + 1}` }, at * 100, Math.min(at * 100 + 100, 250)),
      4,
      250,
    ],
  ])('%s', async (_name, answer, requests, count) => {
    const { asked, ids, end } = await readList(answer, { readAhead: 1 });
    expect(asked).toHaveLength(requests);
    expect(ids).toEqual(createIds(count));
    expect(end).toBe('complete');
  });
});

describe('T36 a list without an end', () => {
  test.each([1, 4])('ends at a repeated page (read-ahead %i)', async readAhead => {
    const { end, asked, pages } = await readList(loop, { readAhead });
    expect(end).toBe('repeated');
    expect(pages).toHaveLength(2);
    expect(asked.length).toBeLessThanOrEqual(12);
  });

  test('ends at a page of known rows in another order', async () => {
    const { end, pages } = await readList(({ page }) => ({
      pagination: { nextPage: page + 1 },
      retirements: page === 2 ? createRows(50, 150).toReversed() : createRows(page * 100, page * 100 + 100),
    }));
    expect(end).toBe('repeated');
    expect(pages).toHaveLength(3);
  });

  test.each([1, 4])('ends after total/limit + 2 requests (read-ahead %i)', async readAhead => {
    const { end, asked } = await readList(endless, { readAhead });
    expect(end).toBe('endless');
    expect(asked).toHaveLength(12);
  });

  test('uses the size of the first page if it is smaller than requested', async () => {
    const { asked, end } = await readList(({ page }) => ({
      pagination: { total: 100, nextPage: page + 1 },
      retirements: createRows(page * 20, page * 20 + 20),
    }));
    expect(end).toBe('endless');
    expect(asked).toHaveLength(7);
  });
});

test('a page states when its answer arrived, even if it was read ahead and is consumed late', async () => {
  let clock = 10;
  let came = 0;
  const waiting: (() => void)[] = [];
  const registry = await startLoopbackServer((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page'));
    const answer = () => response.end(JSON.stringify(createHonestRegistry(250)({ limit: 100, page })));
    if (page === 1) waiting.push(answer);
    else answer();
  });
  const onCall = () => {
    came += 1;
    clock += 10;
    if (came === 2) waiting.pop()?.();
  };
  const client = createTestClients(registry.url, { now: () => clock, onCall }).organization;
  const arrivals: number[] = [];
  for await (const { number, arrivedAt } of observePages(client.listRetirements())) {
    if (number === 0) {
      await expect.poll(() => came).toBe(3);
      clock = 1000;
    }
    arrivals.push(arrivedAt);
  }
  expect(arrivals).toEqual([20, 40, 30]);
});
