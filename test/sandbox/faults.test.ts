import { afterEach, describe, expect, test } from 'vitest';
import {
  createCaller,
  createControlCaller,
  installApp,
  issueCredit,
  startSandboxForFile,
  sumIssuedMicro,
  VERSION,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile({ seed: 1 });
const { credits, faults } = sandbox.registry;
const control = createControlCaller(sandbox);
const { organization, token } = installApp(sandbox);
const call = createCaller(sandbox, token);
const root = `/organizations/${organization.id}`;
const creditId = issueCredit(sandbox, organization.id, { place: 'inventory', amount: 100 });
for (let amount = 1; amount <= 12; amount += 1)
  credits.retireOffPlatform(organization.id, { creditId, amount });
afterEach(() => faults.clear());

async function addFault(path: string, kind: string, options: object = {}, count?: number): Promise<void> {
  expect((await control('POST /faults', { path, kind, options, count })).status).toBe(200);
}

async function get(path: string, signal?: AbortSignal): Promise<Response> {
  const headers = { ...VERSION, authorization: `Bearer ${token}` };
  return fetch(`${sandbox.url}${path}`, { headers, redirect: 'manual', ...(signal && { signal }) });
}

describe('a fault applies', () => {
  test('to calls that match its method and path, where * is one segment and ** any rest', async () => {
    expect((await get(root)).status).toBe(200);
    await control('POST /faults', { method: 'POST', path: '/projects', kind: 'status' });
    await addFault('/organizations/*/members', 'status', { status: 500 });
    await addFault('/projects/**', 'status', { status: 502 });
    for (const [path, status] of [
      [`${root}/members`, 500],
      [`${root}/addresses`, 200],
      ['/projects/find', 502],
      ['/projects', 200],
    ] as const)
      expect((await get(path)).status, path).toBe(status);
  });

  test('as often as its count says', async () => {
    await addFault(root, 'status', {}, 2);
    const statuses = [await get(root), await get(root), await get(root)].map(({ status }) => status);
    expect(statuses).toEqual([503, 503, 200]);
    expect((await control('GET /faults')).body.faults).toMatchObject([{ hits: 2, remaining: 0 }]);
  });

  test('until it is removed, alone or with all others', async () => {
    for (const remove of [() => `/faults/${faults.list()[0]?.id}`, () => '/faults']) {
      await addFault(root, 'html');
      expect((await get(root)).headers.get('content-type')).toMatch(/html/);
      await control(`DELETE ${remove()}`);
      expect((await get(root)).status).toBe(200);
    }
  });
});

/** The whole answer of `GET /organizations/<id>`, with its name and a city. */
const matchAnswer = (city: string) =>
  expect.stringMatching(new RegExp(`^{.*"city":"${city}".*"fullName":"${organization.fullName}".*}$`));

describe('a call under the fault', () => {
  test.each<[string, object, { status?: number; headers?: object; text?: string }]>([
    [
      'status',
      { status: 429, retryAfter: 7 },
      {
        status: 429,
        headers: { 'retry-after': '7' },
        text: '{"statusCode":429,"message":"Scripted by the sandbox","error":"Too Many Requests"}',
      },
    ],
    [
      'status',
      { status: 404, body: 'gone' },
      { status: 404, headers: { 'retry-after': null }, text: '"gone"' },
    ],
    ['status', { status: 599 }, { status: 599, text: expect.stringContaining('"error":"Error"') }],
    ['slow', { intervalMs: 1 }, { text: matchAnswer('') }],
    ['delay', { delayMs: 20 }, { text: matchAnswer('') }],
    ['html', {}, { text: expect.stringMatching(/^<!doctype html>/) }],
    ['cut', { bytes: 20, cleanEnd: true }, { text: expect.stringMatching(/^.{20}$/) }],
    ['wrongShape', { body: { credits: 'none' } }, { text: '{"credits":"none"}' }],
    [
      'overrideObjects',
      { body: { [organization.id]: { city: 'Akureyri' } } },
      { text: matchAnswer('Akureyri') },
    ],
    [
      'redirect',
      { location: 'http://elsewhere.example/x' },
      { status: 302, headers: { location: 'http://elsewhere.example/x' } },
    ],
  ])('%s with %j is answered accordingly', async (kind, options, expected) => {
    const { status = 200, headers = {}, text = expect.anything() } = expected;
    await addFault(root, kind, options);
    const answer = await get(root);
    expect(answer.status).toBe(status);
    for (const [name, value] of Object.entries(headers)) expect(answer.headers.get(name)).toBe(value);
    expect(await answer.text()).toEqual(text);
  });

  test('delay of a list in several chunks is answered with the whole list', async () => {
    for (let count = 0; count < 200; count += 1) issueCredit(sandbox, organization.id);
    const path = `${root}/warehouse/inventory`;
    const complete = await (await get(path)).text();
    expect(complete.length).toBeGreaterThan(100_000);
    await addFault(path, 'delay', { delayMs: 1 });
    expect(await (await get(path)).text()).toBe(complete);
  });

  test('silence is never answered', async () => {
    await addFault(root, 'silence');
    await expect(get(root, AbortSignal.timeout(100))).rejects.toThrow(/timeout/i);
  });

  test.each([root, `${root}/inventory`])('cut of %s ends in the middle of its answer', async path => {
    await addFault(path, 'cut');
    const response = await get(path);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  test.each([
    ['hangup', {}, 0],
    ['cut', { bytes: 0 }, 100_000_000],
  ])('%s with %j loses its answer, after %i millionths were issued', async (kind, options, issued) => {
    await addFault(`${root}/friendbot`, kind, options, 1);
    const before = sumIssuedMicro(sandbox);
    await expect(get(`${root}/friendbot`)).rejects.toThrow();
    expect(sumIssuedMicro(sandbox)).toBe(before + issued);
  });

  test('endless never ends', async () => {
    await addFault(`${root}/inventory`, 'endless');
    let bytes = 0;
    for await (const chunk of (await get(`${root}/inventory`)).body ?? []) {
      bytes += chunk.length;
      if (bytes > 5_000_000) break;
    }
    expect(bytes).toBeGreaterThan(5_000_000);
  });
});

describe('a list under the fault', () => {
  const path = `${root}/retirements`;

  async function readPage(page: number) {
    const { pagination, retirements } = (await call(`GET ${path}?limit=5&page=${page}`)).body;
    return { pagination, amounts: retirements.map(({ amount }: { amount: number }) => amount) };
  }

  test('pageLoop returns the first page each time and states that another follows', async () => {
    await addFault(path, 'pageLoop');
    for (const page of [0, 1, 7]) {
      const { amounts, pagination } = await readPage(page);
      expect(amounts).toEqual([12, 11, 10, 9, 8]);
      expect(pagination).toMatchObject({ currentPage: page, nextPage: page + 1 });
    }
  });

  test('pageSize returns fewer rows per page than requested', async () => {
    await addFault(path, 'pageSize', { rows: 2 });
    const pagination = expect.objectContaining({ total: 12, pageCount: 6 });
    expect(await readPage(1)).toEqual({ amounts: [10, 9], pagination });
  });

  test('pageLimit refuses a request for more rows per page than it allows', async () => {
    await addFault(path, 'pageLimit', { rows: 5 });
    expect((await readPage(1)).amounts).toEqual([7, 6, 5, 4, 3]);
    faults.clear();
    await addFault(path, 'pageLimit', { rows: 4 });
    const refusal = { statusCode: 400, message: 'limit must not be greater than 4' };
    expect(await (await get(`${path}?limit=5&page=0`)).json()).toMatchObject(refusal);
  });

  test('rowsAppear adds rows at the front, which shifts every page', async () => {
    await addFault(path, 'rowsAppear', { rows: 1 });
    const pages = [await readPage(0), await readPage(1), await readPage(2)];
    expect(pages.map(({ pagination }) => pagination.total)).toEqual([7, 8, 9]);
    expect(pages.map(({ amounts }) => amounts)).toEqual([[7, 6, 5, 4, 3], [3, 2, 1], []]);
    await readPage(0);
    await readPage(0);
    expect((await readPage(0)).pagination.total).toBe(12);
  });

  test('rowsDisappear removes rows from the front, so that later pages skip some', async () => {
    await addFault(path, 'rowsDisappear', { rows: 2 });
    const pages = [await readPage(0), await readPage(1)];
    expect(pages.map(({ pagination }) => pagination.total)).toEqual([12, 10]);
    expect(pages.map(({ amounts }) => amounts)).toEqual([
      [12, 11, 10, 9, 8],
      [5, 4, 3, 2, 1],
    ]);
    await addFault('/projects', 'rowsDisappear', { rows: 2 });
    const readTotal = async () => (await call('GET /projects')).body.pagination.total;
    expect((await readTotal()) - (await readTotal())).toBe(2);
  });
});
