import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { toAddressKey } from '../../src/api/address-key.js';
import { createRateLimiter } from '../../src/api/rate-limiter.js';
import { hasOrganization } from '../../src/api/token-rules.js';
import { createToken } from '../../src/inbox/token.js';
import { ALL_LISTS } from '../../src/query/lists/list-definitions.js';
import { type ApiStage, openApi } from '../support/api.js';
import { openFilledMirror } from '../support/mirror/open.js';

async function openScene(options: Parameters<typeof openApi>[1] = {}) {
  const mirror = await openFilledMirror();
  return { ...mirror, api: await openApi(mirror, options) };
}

async function describe(response: Response) {
  const { status, headers } = response;
  return { status, type: headers.get('content-type'), body: await response.json() };
}

const problem = (status: number, detail: unknown = expect.any(String)) => ({
  status,
  type: 'application/problem+json',
  body: { type: 'about:blank', title: expect.any(String), status, detail },
});

test('T106 without a valid token every request is answered 401 and told where to send one', async () => {
  const { api, inbox } = await openScene();
  const revoked = await api.createToken({ name: 'revoked' });
  await inbox.tokens.revoke('revoked');
  const headers: (readonly [string, string] | null)[] = [
    null,
    ['authorization', ''],
    ['authorization', 'Bearer'],
    ['authorization', `Basic ${api.token}`],
    ['authorization', `Bearer  ${api.token}`],
    ['authorization', `Bearer ${api.token} `.replace(/ $/, 'x')],
    ['authorization', `Bearer ${api.token.toLowerCase()}`],
    ['authorization', `Bearer ${createToken(randomBytes)}`],
    ['authorization', `Bearer ${revoked}`],
    ['x-api-key', api.token],
  ];
  for (const header of headers)
    for (const path of ['/v1/retirements', '/v1/changes', '/v1/nothing']) {
      const response = await api.get(path, { token: null, ...(header && { headers: [[...header]] }) });
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="carbon-mirror"');
      expect(await describe(response), `${header?.join(' ')}`).toEqual(problem(401));
    }
  expect(new Set(api.refusals)).toEqual(new Set(['no_token', 'not_bearer', 'unknown_token']));
});

test('T106 a token in the URL or in a cookie is refused, even beside a valid header', async () => {
  const { api } = await openScene();
  const other = await api.createToken({});
  const requests: readonly [string, Record<string, string>][] = [
    [`/v1/retirements?token=${other}`, {}],
    [`/v1/retirements?access_token=x`, {}],
    [`/v1/retirements?beneficiary=${other}`, {}],
    [`/v1/retirements/${other}`, {}],
    ['/v1/retirements', { cookie: `session=${other}` }],
  ];
  for (const [path, headers] of requests) {
    for (const token of [api.token, null]) {
      const response = await api.get(path, { headers, token });
      expect(await describe(response), path).toEqual(problem(401, expect.not.stringContaining(other)));
    }
  }
  expect(api.refusals.every(reason => /^token_in_(url|cookie)$/.test(reason))).toBe(true);
  expect((await api.get('/v1/retirements', { headers: { cookie: 'theme=dark' } })).status).toBe(200);
});

test('T106 a token reads its own lists and scopes only', async () => {
  const { api } = await openScene();
  const token = await api.createToken({ scopes: ['lists'], lists: ['retirements'] });
  for (const { name } of ALL_LISTS) {
    const isOwn = name === 'retirements';
    for (const path of [`/v1/${name}`, `/v1/totals?list=${name}`])
      expect((await api.get(path, { token })).status, path).toBe(isOwn ? 200 : 403);
  }
  for (const path of ['/v1/available', '/v1/changes', '/v1/status', '/v1/certificates/r-1-0/pdf'])
    expect(await describe(await api.get(path, { token })), path).toEqual(problem(403));
});

test('T106 only a token that may read rejected webhooks learns that some followed the newest delivery', async () => {
  const { api, inbox } = await openScene();
  const rejected = {
    reason: 'not_stored',
    status: 503,
    headerPrefix: '',
    newestMsAgo: 0,
    rejected: 2,
  } as const;
  await inbox.countRejected([rejected]);
  const caveat = { code: 'newer_rejected', webhooks: 2, reasons: ['not_stored'] };
  const deliveriesOnly = await api.createToken({ name: 'deliveries', lists: ['deliveries'] });
  const both = await api.createToken({ name: 'both', lists: ['deliveries', 'rejected-webhooks'] });
  for (const path of ['/v1/deliveries', '/v1/totals?list=deliveries']) {
    expect(await (await api.get(path, { token: both })).json()).toMatchObject({ caveats: [caveat] });
    expect(await (await api.get(path, { token: deliveriesOnly })).json()).toMatchObject({ caveats: [] });
  }
});

test('T106 lists of people are read only by a token that names them', async () => {
  const { api } = await openScene();
  const token = await api.createToken({});
  for (const name of ['members', 'addresses'])
    expect((await api.get(`/v1/${name}`, { token })).status).toBe(403);
  const named = await api.createToken({ lists: ['members'] });
  expect((await api.get('/v1/members', { token: named })).status).toBe(200);
});

test('T106 changes contain the resources of the lists of the token only', async () => {
  const { api } = await openScene();
  const token = await api.createToken({ scopes: ['changes'], lists: ['retirements'] });
  const { rows } = await api.getJson('/v1/changes?limit=1000', token);
  expect(new Set(rows.map((row: { resource: string }) => row.resource))).toEqual(new Set(['retirements']));
});

async function getAllOf(api: ApiStage, token: string): Promise<string> {
  const paths = [
    ...ALL_LISTS.map(({ name }) => `/v1/${name}`),
    ...ALL_LISTS.map(({ name }) => `/v1/${name}?as_of=now`),
    ...ALL_LISTS.map(({ name }) => `/v1/${name}?as_of=2020`),
    ...ALL_LISTS.map(({ name }) => `/v1/totals?list=${name}`),
    '/v1/retirements/r-2-0',
    '/v1/retirements?beneficiary=Organization',
    '/v1/retirements?organization_id=organization-2',
    '/v1/retirements?organization_id=Organization%202',
    '/v1/retirements?organization_id=Organization',
    '/v1/organizations/organization-2',
    '/v1/certificates/r-2-0/pdf',
    '/v1/certificates/r-2-0/pdf?organization_id=Organization%202',
    '/v1/available',
    '/v1/available?organization_id=organization-2',
    '/v1/changes?limit=1000',
    '/v1/changes?organization_id=organization-2',
    '/v1/status',
  ];
  const answers: string[] = [];
  for (const path of paths) {
    const response = await api.get(path, { token });
    answers.push(`${path} ${response.status} ${await response.text()}`);
  }
  expect(answers.filter(answer => / 200 /.test(answer)).length).toBeGreaterThan(20);
  return answers.join('\n');
}

test('T106 a token of one organization learns nothing of another', async () => {
  const { api } = await openScene();
  const lists = ALL_LISTS.map(({ name }) => name);
  const token = await api.createToken({ organizationIds: ['organization-1'], lists });
  const everything = await getAllOf(api, token);
  const withoutPaths = everything.replaceAll(/^\/v1\S+/gm, '');
  expect(withoutPaths).toContain('Organization 1');
  for (const { name } of ALL_LISTS.filter(list => !hasOrganization(list)))
    expect(everything).toContain(`/v1/${name} 403 `);
  const leaks = withoutPaths.match(
    /.{0,60}(?:organization[- ]2|installation-2|r-2-\d|c-2-\d|"known": ?[2-9])/gi,
  );
  expect(leaks).toBeNull();
});

test('T106 a token of one organization cannot tell whether rows of another have a value', async () => {
  const { api, tables } = await openScene();
  await tables.change(
    `UPDATE retirements SET beneficiary = 'Hidden Ferries' WHERE organization_id = 'organization-2'`,
  );
  const token = await api.createToken({ organizationIds: ['organization-1'] });
  const search = async (text: string) => {
    const { rows, caveats } = await api.getJson(`/v1/retirements?beneficiary=${text}`, token);
    return { rows, caveats };
  };
  expect(await search('Hidden')).toEqual({ rows: [], caveats: [] });
  expect(await search('Nobody')).toEqual({ rows: [], caveats: [] });
  expect(JSON.stringify(await api.getJson('/v1/retirements?beneficiary=Hiden'))).toContain('Hidden Ferries');
});

test('a token of several organizations must name one of them', async () => {
  const { api } = await openScene();
  const token = await api.createToken({ organizationIds: ['organization-1', 'organization-2'] });
  expect(await describe(await api.get('/v1/retirements', { token }))).toEqual(
    problem(400, expect.stringContaining('organization_id')),
  );
  const { totals } = await api.getJson('/v1/retirements?organization_id=organization-2', token);
  expect(totals.rows).toBe(2);
});

test('T107 unknown tokens of an address are limited, and valid tokens are not', async () => {
  const { api } = await openScene();
  const statuses: number[] = [];
  for (let n = 0; n < 40; n += 1) {
    const { status } = await api.get('/v1/retirements', { token: createToken(randomBytes) });
    statuses.push(status);
  }
  expect(statuses).toEqual([...Array(20).fill(401), ...Array(20).fill(429)]);
  expect((await api.get('/v1/retirements')).status).toBe(429);
  api.clock.at += 60_000;
  expect((await api.get('/v1/retirements')).status).toBe(200);
  for (let n = 0; n < 40; n += 1) await api.get('/v1/retirements', { token: createToken(randomBytes) });
  expect((await api.get('/v1/retirements')).status).toBe(200);
});

test('T107 a token may send as many requests a minute as is set, and each answer says how many are left', async () => {
  const { api } = await openScene({ perMinute: 60 });
  const first = await api.get('/v1/retirements');
  const limits = (response: Response) =>
    ['limit', 'remaining', 'reset'].map(name => response.headers.get(`ratelimit-${name}`));
  expect(limits(first)).toEqual(['60', '59', '1']);
  for (let n = 0; n < 59; n += 1) await api.get('/v1/projects');
  const refused = await api.get('/v1/retirements');
  expect(limits(refused)).toEqual(['60', '0', '60']);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await describe(refused)).toEqual(problem(429));
  const other = await api.createToken({});
  expect((await api.get('/v1/retirements', { token: other })).status).toBe(200);
  api.clock.at += 1000;
  expect((await api.get('/v1/retirements')).status).toBe(200);
});

test('T107 a rate limiter with too many keys forgets the one that was used longest ago', () => {
  const limiter = createRateLimiter({ perMinute: 1, now: () => 0, maxKeys: 2 });
  const isAllowed = (key: string) => limiter.take(key).isAllowed;
  expect(['a', 'b', 'a', 'b'].map(isAllowed)).toEqual([true, true, false, false]);
  expect(['a', 'c', 'a', 'b'].map(isAllowed)).toEqual([false, true, false, true]);
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1'],
  ['2001:db8::1:2:3:4', '2001:db8:0:0'],
  ['2001:db8::5', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
])('T107 the guesses of %s are counted for %s', (address, key) => {
  expect(toAddressKey(address)).toBe(key);
});

test('a revoked token is refused after ten seconds at the latest', async () => {
  const { api, inbox } = await openScene();
  const token = await api.createToken({ name: 'leaked' });
  expect((await api.get('/v1/retirements', { token })).status).toBe(200);
  await inbox.tokens.revoke('leaked');
  api.clock.at += 10_000;
  expect((await api.get('/v1/retirements', { token })).status).toBe(401);
});

test('the last use of a token is stored once a minute', async () => {
  const { api, inbox } = await openScene();
  const token = await api.createToken({ name: 'shop' });
  await api.get('/v1/retirements', { token });
  const findLastUse = async () => (await inbox.tokens.list()).find(({ name }) => name === 'shop')?.lastUsedAt;
  expect(await findLastUse()).toBeNull();
  api.clock.at += 60_000;
  await api.get('/v1/retirements', { token });
  expect(await findLastUse()).toMatch(/^\d{4}-/);
});
