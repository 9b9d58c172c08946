import { expect, test } from 'vitest';
import { ALL_LISTS } from '../../src/query/lists/list-definitions.js';
import { openApi } from '../support/api.js';
import { ENGINES } from '../support/mirror/open.js';
import { chooseLength } from '../support/long.js';
import { fillInboxWithOddRows, fillWithOddRows, TEXTS } from '../support/odd-rows.js';
import { createRandom, pick } from '../support/random.js';

const REQUESTS = chooseLength(200, 10_000);
const AT_ONCE = 8;
const SEED = 62;

const HOSTILE = [
  ...TEXTS.filter(text => !text.includes('\uD800')),
  "'; DROP TABLE retirements; --",
  '" OR ""="',
  '../../etc/passwd',
  '%00',
  '\u0000',
  '\r\nx: y',
  '-1',
  '1e309',
  'NaN',
  'null',
  '[]',
  '{}',
  '9'.repeat(30),
  'a'.repeat(5_000),
  '\u202e',
  '‮'.repeat(100),
  '2026-02-30',
  '-000001-01-01',
  '0000',
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00.000Z',
  '2026-Q5',
  'organization-1',
  'exPost',
  'W10',
  'WyJhIl0',
  '💥',
];
const NAMES = [
  'limit',
  'after',
  'as_of',
  'wait',
  'list',
  'organization_id',
  'id',
  '__proto__',
  'constructor',
  '',
];
const PATHS = [
  'available',
  'totals',
  'status',
  'changes',
  'openapi.json',
  'certificates/r/pdf',
  'nothing',
  '',
  '..',
  '%2e%2e',
];
const METHODS = ['GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'OPTIONS'];

test.each(ENGINES)('T108 random requests are never answered 5xx: $name', async ({ library }) => {
  const opened = await library();
  await fillWithOddRows(opened.stage);
  await fillInboxWithOddRows(opened.tables);
  const api = await openApi(opened);
  const random = createRandom(SEED);
  const own = await api.createToken({ organizationIds: ['organization-1'] });
  const cursors: string[] = [];

  function createPath(): string {
    const list = pick(random, ALL_LISTS, undefined);
    const id = random() < 0.3 ? `/${encodeURIComponent(pick(random, HOSTILE, ''))}` : '';
    const path = random() < 0.8 ? `${list?.name}${id}` : pick(random, PATHS, '');
    const names = [...Object.keys(list?.filters ?? {}), ...NAMES];
    const parameters = Array.from({ length: Math.floor(random() * 4) }, () => {
      const name = pick(random, names, '');
      const value =
        name === 'after' && random() < 0.5 ? pick(random, cursors, 'x') : pick(random, HOSTILE, '');
      return `${encodeURIComponent(name)}=${random() < 0.05 ? '%' : encodeURIComponent(value)}`;
    });
    const query = parameters.filter(parameter => !parameter.startsWith('wait=')).join('&');
    return `/v1/${path}${query === '' ? '' : `?${query}`}`;
  }

  const statuses = new Map<number, number>();
  const wrong: string[] = [];
  async function sendOne(): Promise<void> {
    const path = createPath();
    const token = random() < 0.1 ? null : random() < 0.2 ? own : api.token;
    const response = await api.get(path, { token, method: pick(random, METHODS, 'GET'), redirect: 'manual' });
    const text = await response.text();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    if (response.status >= 500) wrong.push(`${path}: ${response.status} ${text}`);
    const isProblem = response.headers.get('content-type') === 'application/problem+json';
    if (response.status >= 400 && !isProblem) wrong.push(`${path}: ${response.status} without a problem`);
    const next = /"next": "([^"]+)"/.exec(text)?.[1];
    if (next !== undefined && cursors.length < 100) cursors.push(next);
  }
  for (let sent = 0; sent < REQUESTS; sent += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => sendOne()));
  expect(wrong).toEqual([]);
  expect(api.faults).toEqual([]);
  for (const status of [200, 400, 401, 403, 404, 405])
    expect(statuses.get(status), `${status}`).toBeGreaterThan(0);
});
