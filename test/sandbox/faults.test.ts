import { afterEach, describe, expect, test } from 'vitest';
import {
  callSandbox,
  installApp,
  issueCredit,
  sumIssuedMicro,
  startSandboxForFile,
  VERSION,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile();
const installed = installApp(sandbox);
const root = `/organizations/${installed.organization.id}`;
const creditId = issueCredit(sandbox, installed.organization.id, { place: 'inventory', amount: 100 });
for (let amount = 1; amount <= 12; amount += 1) {
  sandbox.registry.credits.retireOffPlatform(installed.organization.id, { creditId, amount });
}
afterEach(() => sandbox.registry.faults.clear());

async function addFault(fault: object): Promise<void> {
  expect((await callSandbox(sandbox, 'POST /_sandbox/faults', { body: fault })).status).toBe(200);
}

async function get(path: string, signal?: AbortSignal): Promise<Response> {
  const headers = { ...VERSION, authorization: `Bearer ${installed.token}` };
  return fetch(`${sandbox.url}${path}`, { headers, redirect: 'manual', ...(signal && { signal }) });
}

test('no fault applies by default', async () => {
  expect(sandbox.registry.faults.list()).toEqual([]);
  expect((await get(root)).status).toBe(200);
});

describe('a fault applies', () => {
  test('to calls that match its method and path, where * is one segment and ** any rest', async () => {
    await addFault({
      method: 'GET',
      path: '/organizations/*/members',
      kind: 'status',
      options: { status: 500 },
    });
    await addFault({ path: '/projects/**', kind: 'status', options: { status: 502 } });
    expect((await get(`${root}/members`)).status).toBe(500);
    expect((await get(`${root}/addresses`)).status).toBe(200);
    expect((await get('/projects/find')).status).toBe(502);
    expect((await get('/projects')).status).toBe(200);
  });

  test('as often as its count says', async () => {
    await addFault({ path: root, kind: 'status', count: 2 });
    const statuses = [await get(root), await get(root), await get(root)].map(({ status }) => status);
    expect(statuses).toEqual([503, 503, 200]);
    expect((await callSandbox(sandbox, 'GET /_sandbox/faults')).body.faults).toMatchObject([
      { hits: 2, remaining: 0 },
    ]);
  });

  test('until it is removed', async () => {
    await addFault({ path: root, kind: 'html' });
    const [fault] = sandbox.registry.faults.list();
    expect((await get(root)).headers.get('content-type')).toMatch(/html/);
    await callSandbox(sandbox, `DELETE /_sandbox/faults/${fault?.id}`);
    expect((await get(root)).status).toBe(200);
    await addFault({ path: root, kind: 'html' });
    await callSandbox(sandbox, 'DELETE /_sandbox/faults');
    expect((await get(root)).status).toBe(200);
  });
});

describe('kinds of faults', () => {
  test('status answers any status, with or without Retry-After, in the registry’s format or another', async () => {
    await addFault({ path: root, kind: 'status', count: 1, options: { status: 429, retryAfter: 7 } });
    const first = await get(root);
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await first.json()).toMatchObject({ statusCode: 429, error: 'Too Many Requests' });
    await addFault({ path: root, kind: 'status', count: 1, options: { status: 404, body: 'gone' } });
    const second = await get(root);
    expect([second.status, second.headers.get('retry-after'), await second.json()]).toEqual([
      404,
      null,
      'gone',
    ]);
  });

  test('silence never answers', async () => {
    await addFault({ path: root, kind: 'silence' });
    await expect(get(root, AbortSignal.timeout(100))).rejects.toThrow(/timeout/i);
  });

  test('hangup closes the connection without an answer and does not carry out the call', async () => {
    await addFault({ path: `${root}/friendbot`, kind: 'hangup', count: 1 });
    const before = sumIssuedMicro(sandbox);
    await expect(get(`${root}/friendbot`)).rejects.toThrow();
    expect(sumIssuedMicro(sandbox)).toBe(before);
  });

  test('slow sends the true answer one byte at a time', async () => {
    await addFault({ path: `${root}/addresses`, kind: 'slow', options: { intervalMs: 1 } });
    const answer = await (await get(`${root}/addresses`)).json();
    expect(answer).toMatchObject({ organizationId: installed.organization.id });
  });

  test('cut ends the answer in the middle', async () => {
    await addFault({ path: root, kind: 'cut', options: { bytes: 20 } });
    const response = await get(root);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  test('cut works on a streamed answer', async () => {
    await addFault({ path: `${root}/inventory`, kind: 'cut' });
    const response = await get(`${root}/inventory`);
    await expect(response.text()).rejects.toThrow();
  });

  test('cut with cleanEnd sends half an answer that looks complete', async () => {
    await addFault({ path: root, kind: 'cut', options: { bytes: 20, cleanEnd: true } });
    expect(await (await get(root)).text()).toHaveLength(20);
  });

  test('cut at byte 0 carries out the call and loses the answer', async () => {
    const before = sumIssuedMicro(sandbox);
    await addFault({ path: `${root}/friendbot`, kind: 'cut', options: { bytes: 0 } });
    await expect(get(`${root}/friendbot`)).rejects.toThrow();
    expect(sumIssuedMicro(sandbox)).toBe(before + 100_000_000);
  });

  test('delay sends the true answer late', async () => {
    await addFault({ path: root, kind: 'delay', options: { delayMs: 20 } });
    expect(await (await get(root)).json()).toMatchObject({ id: installed.organization.id });
  });

  test('endless sends an answer that never ends', async () => {
    await addFault({ path: `${root}/inventory`, kind: 'endless' });
    const response = await get(`${root}/inventory`);
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > 5_000_000) break;
    }
    expect(bytes).toBeGreaterThan(5_000_000);
  });

  test('html sends a page with status 200', async () => {
    await addFault({ path: root, kind: 'html' });
    const response = await get(root);
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/^<!doctype html>/);
  });

  test('redirect sends a redirect', async () => {
    await addFault({ path: root, kind: 'redirect', options: { location: 'http://elsewhere.example/x' } });
    const response = await get(root);
    expect([response.status, response.headers.get('location')]).toEqual([302, 'http://elsewhere.example/x']);
  });

  test('wrongShape sends other JSON', async () => {
    await addFault({ path: root, kind: 'wrongShape', options: { body: { credits: 'none' } } });
    expect(await (await get(root)).json()).toEqual({ credits: 'none' });
  });
});

describe('faults of lists', () => {
  const path = () => `${root}/retirements`;

  async function readPage(page: number) {
    const { body } = await callSandbox(sandbox, `GET ${path()}?limit=5&page=${page}`, {
      token: installed.token,
    });
    const amounts: number[] = body.retirements.map(({ amount }: { amount: number }) => amount);
    return { amounts, pagination: body.pagination };
  }

  test('pageLoop returns the first page each time and states that another follows', async () => {
    await addFault({ path: path(), kind: 'pageLoop' });
    for (const page of [0, 1, 7]) {
      const { amounts, pagination } = await readPage(page);
      expect(amounts).toEqual([12, 11, 10, 9, 8]);
      expect(pagination).toMatchObject({ currentPage: page, nextPage: page + 1 });
    }
  });

  test('pageSize returns fewer rows per page than requested', async () => {
    await addFault({ path: path(), kind: 'pageSize', options: { rows: 2 } });
    const { amounts, pagination } = await readPage(1);
    expect(amounts).toEqual([10, 9]);
    expect(pagination).toMatchObject({ total: 12, pageCount: 6 });
  });

  test('pageLimit refuses a request for more rows per page than it allows', async () => {
    await addFault({ path: path(), kind: 'pageLimit', options: { rows: 5 } });
    expect((await readPage(1)).amounts).toEqual([7, 6, 5, 4, 3]);
    sandbox.registry.faults.clear();
    await addFault({ path: path(), kind: 'pageLimit', options: { rows: 4 } });
    expect(await (await get(`${path()}?limit=5&page=0`)).json()).toMatchObject({
      statusCode: 400,
      message: 'limit must not be greater than 4',
    });
  });

  test('rowsAppear adds rows at the front, which shifts every page', async () => {
    await addFault({ path: path(), kind: 'rowsAppear', options: { rows: 1 } });
    const pages = [await readPage(0), await readPage(1), await readPage(2)];
    expect(pages.map(({ pagination }) => pagination.total)).toEqual([7, 8, 9]);
    expect(pages.map(({ amounts }) => amounts)).toEqual([[7, 6, 5, 4, 3], [3, 2, 1], []]);
    await readPage(0);
    await readPage(0);
    expect((await readPage(0)).pagination.total).toBe(12);
  });

  test('rowsDisappear removes rows from the front, so that later pages skip some', async () => {
    await addFault({ path: path(), kind: 'rowsDisappear', options: { rows: 2 } });
    const pages = [await readPage(0), await readPage(1)];
    expect(pages.map(({ pagination }) => pagination.total)).toEqual([12, 10]);
    expect(pages.map(({ amounts }) => amounts)).toEqual([
      [12, 11, 10, 9, 8],
      [5, 4, 3, 2, 1],
    ]);
  });
});

test.each([{}, { kind: 'unknown' }, { kind: 'html', count: -1 }, { kind: 'html', path: '' }, []])(
  'the fault %j is refused',
  async body => {
    expect((await callSandbox(sandbox, 'POST /_sandbox/faults', { body })).status).toBe(400);
  },
);
