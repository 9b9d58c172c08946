import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  callSandbox,
  createCaller,
  createControlCaller,
  createOrganization,
  type Installed,
  installApp,
  issueCredit,
  registerApp,
  retireFromWarehouse,
  signAppJwt,
  startSandboxForFile,
  startTemporarySandbox,
  VERSION,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile({ seed: 1 });
const { registry } = sandbox;
const control = createControlCaller(sandbox);
const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };

/** Puts this many rows into each paginated list of an app and its organization. */
const ROWS = 5;
const installed = installApp(sandbox);
const { app, organization, token } = installed;
const call = createCaller(sandbox, token);
const root = `/organizations/${organization.id}`;
const creditId = issueCredit(sandbox, organization.id);
registry.credits.issue({ organizationId: organization.id, creditId, amount: 100 });
const created: Record<string, string[]> = {
  reservations: [],
  creditRequests: [],
  retirements: [],
  installations: [],
};
for (let row = 0; row < ROWS; row += 1) {
  const body = { creditId, amount: 1, retirementData };
  retireFromWarehouse(sandbox, { organizationId: organization.id, appId: app.id, creditId }, 1);
  created['retirements']?.unshift(registry.store.tables.retirements.list().at(-1)?.id ?? '');
  const reservation = await call(`POST ${root}/warehouse/inventory/reservations`, { creditId, amount: 1 });
  created['reservations']?.unshift(reservation.body.id);
  const request = await call(`POST ${root}/inventory/requests/retire`, body);
  created['creditRequests']?.unshift(request.body.id);
}
const owner = registerApp(sandbox);
for (let row = 0; row < ROWS; row += 1) {
  registry.store.clock.shiftTime(1);
  created['installations']?.unshift(installApp(sandbox, { app: owner }).installationId);
}
registry.installations.suspend(created['installations']?.[0] ?? '');

describe('a paginated list', () => {
  test.each([
    ['reservations', `${root}/warehouse/inventory/reservations`, 2 * ROWS],
    ['creditRequests', `${root}/inventory/requests`, ROWS],
    ['retirements', `${root}/retirements`, ROWS],
    ['installations', '/app/installations', ROWS],
    ['projects', '/projects', registry.projects.listAll().filter(({ isPublic }) => isPublic).length],
  ])('of %s has each row once, newest first, whatever the page size', async (name, path, total) => {
    const read = createCaller(sandbox, name === 'installations' ? signAppJwt(sandbox, owner) : token);
    const whole = (await read(`GET ${path}?limit=1000`)).body[name].map(({ id }: { id: string }) => id);
    expect(whole).toHaveLength(total);
    expect(whole.filter((id: string) => created[name]?.includes(id) ?? false)).toEqual(created[name] ?? []);
    const pageCount = Math.ceil(total / 3);
    const paged: string[] = [];
    for (let page = 0; page < pageCount; page += 1) {
      const { body } = await read(`GET ${path}?limit=3&page=${page}`);
      const nextPage = page + 1 < pageCount ? page + 1 : null;
      const prevPage = page > 0 ? page - 1 : null;
      expect(body.pagination).toEqual({ total, currentPage: page, pageCount, nextPage, prevPage });
      paged.push(...body[name].map(({ id }: { id: string }) => id));
    }
    expect(paged).toEqual(whole);
    const beyond = { pagination: { total, nextPage: null }, [name]: [] };
    expect((await read(`GET ${path}?limit=3&page=99`)).body).toMatchObject(beyond);
    const first = { pagination: { currentPage: 0, pageCount: Math.ceil(total / 10) } };
    expect((await read(`GET ${path}`)).body).toMatchObject(first);
  });

  test.each(['limit=1&page=0', 'limit=1000&page=0', 'limit=1', 'page=2', ''])('accepts %j', async query => {
    expect((await call(`GET /projects?${query}`)).status).toBe(200);
  });

  test('of the control API has a limit', async () => {
    const { requests } = (await control(`GET /requests?limit=${ROWS}`)).body;
    const ids = requests.map(({ id }: { id: string }) => id).toSorted();
    expect(ids).toEqual(created['creditRequests']?.toSorted());
  });

  test('has at most 50 rows on a page with the profile as-documented', async () => {
    const documented = await startTemporarySandbox({ profile: 'as-documented' });
    const read = createCaller(documented, installApp(documented).token);
    for (let count = 0; count < 51; count += 1)
      documented.registry.projects.create({ fullName: `P ${count}` });
    const { projects, pagination } = (await read('GET /projects?limit=1000&page=0')).body;
    expect(projects).toHaveLength(50);
    expect(pagination).toMatchObject({ pageCount: 2, nextPage: 1 });
    const second = (await read('GET /projects?limit=1000&page=1')).body.projects;
    expect(second).toHaveLength(pagination.total - 50);
  });
});

describe('GET /retirements/list', () => {
  const list = async (query: string) => (await call(`GET /retirements/list${query}`)).body;

  test('returns a slice of all retirements, newest first, without pagination', async () => {
    const ten = await list('');
    expect(Object.keys(ten)).toEqual(['retirements']);
    expect(ten.retirements).toHaveLength(10);
    expect((await list('?skip=3&first=5')).retirements).toEqual(ten.retirements.slice(3, 8));
    expect((await list('?skip=100000')).retirements).toEqual([]);
    for (const query of ['?first=0', '?skip=-1', '?first=1001', '?skip=x'])
      expect((await list(query)).statusCode, query).toBe(400);
  });

  test('shows only the amount and the project of an unclaimed retirement', async () => {
    const { id } = createOrganization(sandbox);
    const unclaimed = issueCredit(sandbox, id, { place: 'inventory' });
    registry.credits.retireOffPlatform(id, { creditId: unclaimed, amount: 1.5 });
    const project = expect.objectContaining({ id: expect.any(String) });
    expect((await list('?first=1')).retirements).toEqual([{ amount: 1.5, project }]);
  });
});

describe('a warehouse of thousands of credits', () => {
  const CREDITS = 20_000;

  function fillWarehouse(): { large: Installed; path: string; last: string | undefined } {
    const large = installApp(sandbox);
    const { id: projectId } = registry.projects.create({ fullName: 'Many credits' });
    const order = { organizationId: large.organization.id, projectId, place: 'warehouse', amount: 1.5 };
    const ids = Array.from({ length: CREDITS }, () => registry.credits.issue(order).creditId);
    const path = `/organizations/${large.organization.id}/warehouse/inventory`;
    return { large, path, last: ids.toSorted().at(-1) };
  }

  test('is returned as of the first byte, even if it is read slowly and changes meanwhile', async () => {
    const warnings: Error[] = [];
    const keep = (warning: Error) => warnings.push(warning);
    process.on('warning', keep);
    onTestFinished(() => void process.off('warning', keep));
    const { large, path, last } = fillWarehouse();
    await disconnectEarly(path, large.token);
    const headers = { ...VERSION, authorization: `Bearer ${large.token}` };
    const answer = await new Promise<IncomingMessage>(resolve => {
      get(`${sandbox.url}${path}`, { headers }, resolve);
    });
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) {
      if (text === '') {
        const body = { creditId: last, amount: 1.5 };
        const reserved = await callSandbox(sandbox, `POST ${path}/reservations`, {
          token: large.token,
          body,
        });
        expect(reserved.status).toBe(200);
      }
      text += chunk;
      await new Promise(setImmediate);
    }
    const { credits } = JSON.parse(text);
    expect(new Set(credits.map(({ id }: { id: string }) => id)).size).toBe(CREDITS);
    expect(credits.every(({ amount }: { amount: number }) => amount === 1.5)).toBe(true);
    const after = await callSandbox(sandbox, `GET ${path}`, { token: large.token });
    expect(after.body.credits).toHaveLength(CREDITS - 1);
    expect(warnings).toEqual([]);
  });

  /** Reads the head of the answer and then closes the connection. */
  async function disconnectEarly(path: string, readerToken: string): Promise<void> {
    const lines = [
      `GET ${path} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${readerToken}`,
      'x-registry-api-version: 2023-06-16',
    ];
    await new Promise<void>((resolve, reject) => {
      const socket = connect(sandbox.port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
      socket.once('data', () => socket.destroy());
      socket.once('close', () => resolve());
      socket.once('error', reject);
    });
  }
});
