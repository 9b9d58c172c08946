import { describe, expect, test } from 'vitest';
import { createOrganizationClient } from '../../src/registry/organization-client.js';
import type { ListOptions } from '../../src/registry/read-types.js';
import { collect, installationTokenSource, listenLoopback, testHttp } from '../support/registry-client.js';

interface Asked {
  readonly limit: number;
  readonly page: number;
}

type Answer = (asked: Asked) => unknown;

const row = (number: number) => ({ id: `ret-${number}`, amount: number });
const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => row(from + index));

/** A well-behaved registry of `total` rows that serves at most `cap` a page. */
function honest(total: number, cap = Infinity): Answer {
  return ({ limit, page }) => {
    const size = Math.min(limit, cap);
    const pageCount = Math.ceil(total / size);
    const nextPage = page + 1 < pageCount ? page + 1 : null;
    return {
      pagination: { total, currentPage: page, pageCount, nextPage, prevPage: Math.max(page - 1, 0) },
      retirements: rows(page * size, Math.min((page + 1) * size, total)),
    };
  };
}

function clientTo(url: string) {
  return createOrganizationClient({
    http: testHttp(url),
    organizationId: 'org-1',
    appId: 'app-1',
    token: installationTokenSource(),
  });
}

async function read(answer: Answer, options?: ListOptions) {
  const asked: Asked[] = [];
  await using registry = await listenLoopback((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x');
    const one = { limit: Number(searchParams.get('limit')), page: Number(searchParams.get('page')) };
    asked.push(one);
    const said = answer(one);
    response.statusCode = Number(Object(said)['statusCode'] ?? 200);
    response.end(typeof said === 'string' ? said : JSON.stringify(said));
  });
  const pages = await collect(clientTo(registry.url).listRetirements(options));
  const ids = pages.flatMap(({ items }) => items.map(({ id }) => id));
  return { pages, ids, asked, end: pages.at(-1)?.end };
}

const all = (count: number) => rows(0, count).map(({ id }) => id);

const sends = (pagination: unknown, from: number, to: number) => ({
  pagination,
  retirements: rows(from, to),
});

const loop: Answer = ({ page }) => ({
  pagination: { total: 1_000, pageCount: 10, nextPage: page + 1 },
  retirements: rows(0, 100),
});

const endless: Answer = ({ page }) => ({
  pagination: { total: 1_000, nextPage: page + 1 },
  retirements: rows(page * 100, page * 100 + 100),
});

test('T47 pages that are too large are asked for in smaller pieces, and nothing else changes', async () => {
  const long = { comment: 'x'.repeat(30_000) };
  const { ids, asked } = await read(({ limit, page }) => ({
    ...Object(honest(150)({ limit, page })),
    retirements: rows(page * limit, Math.min((page + 1) * limit, 150)).map(one => ({ ...one, ...long })),
  }));
  expect(new Set(ids)).toEqual(new Set(all(150)));
  expect(asked[0]?.limit).toBe(100);
  expect(asked.at(-1)?.limit).toBe(50);
});

test('T47 a page of many more rows than were asked for is read, and one of more than 10,000 is not', async () => {
  const { ids } = await read(() => ({ retirements: rows(0, 10_000) }));
  expect(ids).toHaveLength(10_000);
  await expect(read(() => ({ retirements: rows(0, 10_001) }))).rejects.toMatchObject({ code: 'too_large' });
});

test('T47 a page of small objects is not parsed', async () => {
  const objects = (count: number) => ({
    retirements: [{ id: 'r', x: Array.from({ length: count }, () => ({})) }],
  });
  expect((await read(() => objects(99_000))).ids).toEqual(['r']);
  await expect(read(() => objects(100_000))).rejects.toMatchObject({
    code: 'bad_answer',
    message: expect.stringContaining('100000 objects'),
  });
});

test('T47 long rows of a streamed list come in smaller batches', async () => {
  const credits = Array.from({ length: 30 }, (_, index) => ({ id: `c-${index}`, unit: 'x'.repeat(100_000) }));
  await using registry = await listenLoopback((_request, response) => {
    response.end(JSON.stringify({ credits }));
  });
  const batches = await collect(clientTo(registry.url).readWarehouse());
  expect(batches.flat()).toHaveLength(30);
  for (const batch of batches) expect(batch.length).toBeLessThan(13);
});

test('T35 a list that says that it is for another organization is a bad answer', async () => {
  const said = { ...Object(honest(3)({ limit: 100, page: 0 })), organizationId: 'org-2' };
  await expect(read(() => said)).rejects.toMatchObject({ code: 'bad_answer' });
  const { ids } = await read(() => ({ ...said, organizationId: 'ORG-1' }));
  expect(ids).toEqual(all(3));
});

describe('a list', () => {
  test.each([
    [0, 1],
    [1, 1],
    [99, 1],
    [100, 1],
    [101, 2],
    [1234, 13],
  ])('of %i rows takes %i requests and comes in order', async (total, requests) => {
    const { ids, asked, pages, end } = await read(honest(total));
    expect(ids).toEqual(all(total));
    expect(asked).toHaveLength(requests);
    expect(new Set(asked.map(({ page }) => page)).size).toBe(requests);
    expect(pages.map(({ number }) => number)).toEqual(pages.map((_, index) => index));
    expect(pages.map(({ isLast: last }) => last)).toEqual(
      pages.map((_, index) => index === pages.length - 1),
    );
    expect(end).toBe('complete');
    expect(pages[0]?.total).toBe(total);
  });

  test('says the size that was really served', async () => {
    const { ids, pages, asked } = await read(honest(120, 50), { limit: 100 });
    expect(ids).toEqual(all(120));
    expect(pages.map(({ pageSize }) => pageSize)).toEqual([50, 50, 50]);
    expect(asked.every(({ limit }) => limit === 100)).toBe(true);
  });

  test('asks for pages ahead, and never for more at once than it was told', async () => {
    let running = 0;
    let most = 0;
    /** Once the first page has said how many there are, none is answered before three wait. */
    const held: (() => void)[] = [];
    await using registry = await listenLoopback((request, response) => {
      running += 1;
      most = Math.max(most, running);
      const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page'));
      held.push(() => {
        running -= 1;
        response.end(JSON.stringify(honest(2_000)({ limit: 100, page })));
      });
      if (page === 0 || most >= 3) for (const answer of held.splice(0)) setTimeout(answer, 10);
    });
    const client = createOrganizationClient({
      http: testHttp(registry.url),
      organizationId: 'org-1',
      appId: 'app-1',
      token: installationTokenSource(),
    });
    const pages = await collect(client.listRetirements({ readAhead: 3 }));
    expect(pages).toHaveLength(20);
    expect(most).toBe(3);
  });

  test('gives equal pages equal digests, whatever stands around the rows', async () => {
    const before = await read(honest(150));
    const after = await read(honest(151));
    const digests = (pages: typeof before.pages) => pages.map(({ digest }) => digest);
    expect(digests(after.pages)[0]).toBe(digests(before.pages)[0]);
    expect(digests(after.pages)[1]).not.toBe(digests(before.pages)[1]);
    expect(digests(before.pages)[0]).toMatch(/^[0-9a-f]{64}$/);
  });

  const NOTHING = { rowsOf: () => undefined, hasGroup: () => false };

  test('does not parse the rows of a group that is known, and tells the ids of all the same', async () => {
    const [changed, ...others] = (await read(honest(250))).pages[1]?.unknown ?? [];
    const groups = new Set(others.map(({ digest }) => digest));
    const known = { ...NOTHING, hasGroup: (digest: string) => groups.has(digest) };
    const { pages } = await read(honest(250), { knownRows: known });
    expect(pages.map(({ items }) => items.length)).toEqual([100, changed?.ids.length, 50]);
    expect(
      pages.flatMap(page => [...page.known, ...page.unknown].flatMap(({ ids }) => ids)).toSorted(),
    ).toEqual(all(250).toSorted());
    const broken: Answer = asked =>
      asked.page === 1 ? { ...Object(honest(250)(asked)), retirements: [{ amount: 1 }] } : honest(250)(asked);
    await expect(read(broken)).rejects.toMatchObject({ code: 'bad_answer' });
    expect((await read(broken, { knownRows: { ...NOTHING, hasGroup: () => true } })).pages).toHaveLength(3);
  });

  test('does not cut the list of a page that is known, whatever else the answer says', async () => {
    const before = (await read(honest(250))).pages;
    const rowsOf = (digest: string) => before.find(page => page.digest === digest)?.rows;
    const { pages } = await read(honest(251), { knownRows: { ...NOTHING, rowsOf: rowsOf } });
    expect(pages.map(page => [page.isKnown, page.rows, page.total])).toEqual([
      [true, 100, 251],
      [true, 100, 251],
      [false, 51, 251],
    ]);
    expect(pages.map(({ items }) => items.length)).toEqual([0, 0, 51]);
  });

  test('a known list counts only where it stands as the list of the answer', async () => {
    const before = (await read(honest(100))).pages;
    const list = JSON.stringify(rows(0, 100));
    const known = {
      ...NOTHING,
      rowsOf: (digest: string) => before.find(page => page.digest === digest)?.rows,
    };
    const pagination = '"pagination":{"total":100,"pageCount":1,"nextPage":null}';
    const { pages } = await read(() => `{"retirements":${list},${pagination}}`, { knownRows: known });
    expect(pages.map(({ isKnown }) => isKnown)).toEqual([true]);
    for (const other of [
      `{"retirements":${list},${pagination}`,
      `{"retirements":${list},"retirements":[],${pagination}}`,
      `{"other":{"retirements":${list}},"retirements":[],${pagination}}`,
      `{"other":{"retirements":${list}},${pagination}}`,
    ]) {
      const answered = await read(() => other, { knownRows: known }).then(
        found => found.pages.filter(({ isKnown }) => isKnown),
        () => [],
      );
      expect(answered).toEqual([]);
    }
  });

  test('a known page that is answered again ends the list as a repeated one', async () => {
    const before = (await read(honest(100))).pages;
    const known = {
      ...NOTHING,
      rowsOf: (digest: string) => before.find(page => page.digest === digest)?.rows,
    };
    const { pages } = await read(({ limit }) => ({ ...Object(honest(300)({ page: 0, limit })) }), {
      knownRows: known,
    });
    expect(pages.map(({ end }) => end)).toEqual([null, 'repeated']);
  });

  test('a row at the front leaves most groups as they were', async () => {
    const digestsOf = async (listed: readonly object[]) => {
      const { pages } = await read(({ page, limit }) => ({
        ...Object(honest(listed.length)({ page, limit })),
        retirements: listed.slice(page * limit, page * limit + limit),
      }));
      return pages.flatMap(({ unknown }) => unknown.map(({ digest }) => digest));
    };
    const listed: readonly object[] = rows(0, 1_000);
    const before = new Set(await digestsOf(listed));
    const shifted = await digestsOf([{ ...listed[0], id: 'new' }, ...listed]);
    expect(shifted.filter(digest => !before.has(digest)).length).toBeLessThan(shifted.length / 3);
  });

  test.each([0, -1, 1.5, Number.NaN])('refuses the limit %d', async limit => {
    await expect(read(honest(1), { limit })).rejects.toMatchObject({ code: 'bad_request' });
  });

  test('that is left early asks no further', async () => {
    const asked: number[] = [];
    await using registry = await listenLoopback((request, response) => {
      const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page'));
      asked.push(page);
      response.end(JSON.stringify(honest(10_000)({ limit: 100, page })));
    });
    const client = createOrganizationClient({
      http: testHttp(registry.url),
      organizationId: 'org-1',
      appId: 'app-1',
      token: installationTokenSource(),
    });
    for await (const page of client.listRetirements({ readAhead: 2 })) if (page.number === 1) break;
    expect(Math.max(...asked)).toBeLessThanOrEqual(6);
  });
});

/** Answers like `honest`, and refuses a page that is larger than it allows at that moment. */
function strict(total: number, allowed: (asked: Asked) => number, message: (most: number) => string): Answer {
  return asked => {
    const most = allowed(asked);
    return asked.limit <= most
      ? honest(total)(asked)
      : { statusCode: 400, message: message(most), error: 'Bad Request' };
  };
}

describe('a registry that refuses as many rows a page as we ask for', () => {
  const named = (most: number) => `limit must not be greater than ${most}`;
  const refused = () => 'Validation failed';

  test.each([
    ['named', 50, named, [50], 2],
    ['named, and odd', 30, named, [30], 2],
    ['not named', 25, refused, [25], 3],
    ['named in a list of faults', 12, (most: number) => `page: fine; limit: 1 to ${most}`, [12], 2],
  ])('is asked for fewer: the limit is %s', async (_name, most, message, sizes, tries) => {
    const { ids, asked, end, pages } = await read(
      strict(234, () => most, message),
      { readAhead: 1 },
    );
    expect(ids).toEqual(all(234));
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
    'in the middle of a list of pages of %i rows goes on at the same place with %i',
    async (before, after) => {
      const answer = strict(700, ({ limit, page }) => (page < 3 ? limit : after), named);
      const { ids, asked, end, pages } = await read(answer, { limit: before });
      expect(new Set(ids)).toEqual(new Set(all(700)));
      expect(end).toBe('complete');
      expect(ids.length - 700).toBeLessThan(after);
      const later = asked.filter(({ limit }) => limit === after);
      expect(Math.min(...later.map(({ page }) => page))).toBe(Math.floor((3 * before) / after));
      expect(pages.map(({ number }) => number)).toEqual(pages.map((_, index) => index));
    },
  );

  test('is believed where even ten rows are refused', async () => {
    const asked: number[] = [];
    const answer = strict(
      5,
      ({ limit }) => {
        asked.push(limit);
        return 0;
      },
      refused,
    );
    await expect(read(answer, { readAhead: 1 })).rejects.toMatchObject({ code: 'invalid', status: 400 });
    expect(asked).toEqual([100, 50, 25, 12, 10]);
  });

  test('is told from one that refuses something else', async () => {
    const asked: number[] = [];
    const answer: Answer = ({ limit }) => {
      asked.push(limit);
      return { statusCode: 409, message: 'limit 10' };
    };
    await expect(read(answer, { readAhead: 1 })).rejects.toMatchObject({ code: 'conflict' });
    expect(asked).toEqual([100]);
  });
});

describe('where the end of a list is not clear', () => {
  test.each<[string, Answer, number, number]>([
    ['nextPage is null', () => sends({ total: 500, nextPage: null }, 0, 100), 1, 100],
    [
      'the last page names itself as next',
      ({ page: at }) => sends({ pageCount: 2, nextPage: 1 }, at * 100, at * 100 + 100),
      2,
      200,
    ],
    ['only pageCount is there', ({ page: at }) => sends({ pageCount: 3 }, at * 100, at * 100 + 100), 3, 300],
    ['nothing is said and everything came', () => ({ retirements: rows(0, 250) }), 1, 250],
    ['nothing is said, the page is short and so is each one', () => ({ retirements: rows(0, 99) }), 2, 99],
    [
      'nothing is said and fewer rows are served than asked for',
      ({ page: at }) => ({ retirements: rows(at * 40, Math.min(at * 40 + 40, 100)) }),
      4,
      100,
    ],
    [
      'nothing is said and the page is full',
      ({ page: at }) => ({ retirements: at === 0 ? rows(0, 100) : [] }),
      2,
      100,
    ],
    ['the page is empty', ({ page: at }) => sends({ nextPage: at + 1 }, 0, at === 0 ? 100 : 0), 2, 100],
    ['pagination is nonsense', () => sends('x', 0, 50), 2, 50],
    ['pagination is of nonsense', () => sends({ total: 'many', pageCount: -1 }, 0, 50), 2, 50],
    [
      'the next page is named in a way of its own',
      ({ page: at }) => sends({ nextPage: `/${at + 1}` }, at * 100, Math.min(at * 100 + 100, 250)),
      4,
      250,
    ],
  ])('%s', async (_name, answer, requests, count) => {
    const { asked, ids, end } = await read(answer, { readAhead: 1 });
    expect(asked).toHaveLength(requests);
    expect(ids).toEqual(all(count));
    expect(end).toBe('complete');
  });
});

describe('T36 a list that will not end', () => {
  test.each([1, 4])('a page that repeats ends it (read-ahead %i)', async readAhead => {
    const { end, asked, pages } = await read(loop, { readAhead });
    expect(end).toBe('repeated');
    expect(pages).toHaveLength(2);
    expect(asked.length).toBeLessThanOrEqual(12);
  });

  test('a page of rows seen before, in another order, ends it too', async () => {
    const { end, pages } = await read(({ page }) => ({
      pagination: { nextPage: page + 1 },
      retirements: page === 2 ? rows(50, 150).toReversed() : rows(page * 100, page * 100 + 100),
    }));
    expect(end).toBe('repeated');
    expect(pages).toHaveLength(3);
  });

  test.each([1, 4])(
    'pages without end stop after total/limit + 2 requests (read-ahead %i)',
    async readAhead => {
      const { end, asked } = await read(endless, { readAhead });
      expect(end).toBe('endless');
      expect(asked).toHaveLength(12);
    },
  );

  test('a smaller page than asked for counts as the size', async () => {
    const { asked, end } = await read(({ page }) => ({
      pagination: { total: 100, nextPage: page + 1 },
      retirements: rows(page * 20, page * 20 + 20),
    }));
    expect(end).toBe('endless');
    expect(asked).toHaveLength(7);
  });
});

test('a page says when its own answer had come, however early it was asked for and however late it is taken', async () => {
  let clock = 10;
  let came = 0;
  const waiting: (() => void)[] = [];
  await using registry = await listenLoopback((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page'));
    const answer = () => response.end(JSON.stringify(honest(250)({ limit: 100, page })));
    if (page === 1) waiting.push(answer);
    else answer();
  });
  const onCall = () => {
    came += 1;
    clock += 10;
    if (came === 2) waiting.pop()?.();
  };
  const client = createOrganizationClient({
    http: testHttp(registry.url, { now: () => clock, onCall }),
    organizationId: 'org-1',
    appId: 'app-1',
    token: installationTokenSource(),
  });
  const arrivals: number[] = [];
  for await (const { number, arrivedAt } of client.listRetirements()) {
    if (number === 0) {
      await expect.poll(() => came).toBe(3);
      clock = 1000;
    }
    arrivals.push(arrivedAt);
  }
  expect(arrivals).toEqual([20, 40, 30]);
});
