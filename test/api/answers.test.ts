import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { TABLES } from '../../src/store/contract/tables.js';
import { StoreError } from '../../src/store/store-error.js';
import { openApi } from '../support/api.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { openSocket, readUntilClosed } from '../support/wire.js';

async function openScene(options: Parameters<typeof openApi>[1] = {}) {
  const mirror = await openFilledMirror();
  return { ...mirror, api: await openApi(mirror, options) };
}

test('an answer with the same content is not sent again', async () => {
  const { api, tables } = await openScene();
  const first = await api.get('/v1/retirements');
  const etag = String(first.headers.get('etag'));
  expect(etag).toMatch(/^W\/"[\w-]{27}"$/);
  for (const sent of [etag, `"other", ${etag}`, etag.slice(2), '*']) {
    const again = await api.get('/v1/retirements', { headers: { 'if-none-match': sent } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect(again.headers.get('content-type')).toBeNull();
  }
  await tables.change(`UPDATE retirements SET beneficiary = 'Somebody else' WHERE id = 'r-1-0'`);
  const changed = await api.get('/v1/retirements', { headers: { 'if-none-match': etag } });
  expect(changed.status).toBe(200);
  expect(changed.headers.get('etag')).not.toBe(etag);
});

test('a row is found by its id, with all columns of its table', async () => {
  const { api } = await openScene();
  const { rows } = await api.getJson('/v1/retirements/r-1-0');
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ id: 'r-1-0', organization_id: 'organization-1' });
  expect(Object.keys(rows[0])).toEqual(expect.arrayContaining(Object.keys(TABLES['retirements'] ?? {})));
  const statusOf = async (query: string) => (await api.get(`/v1/retirements/r-1-0?${query}`)).status;
  expect(await statusOf('organization_id=organization-1')).toBe(200);
  expect(await statusOf('organization_id=organization-2')).toBe(404);
  expect(await statusOf('beneficiary=x')).toBe(400);
});

test('the names of all fields of the status are in snake case', async () => {
  const { api } = await openScene();
  const text = JSON.stringify(await api.getJson('/v1/status'));
  expect(text.match(/"[a-z]+[A-Z]\w*":/g)).toBeNull();
  expect(text).toMatch(/"[a-z]+_[a-z]+":/);
});

test('a long answer is compressed only for clients that accept it', async () => {
  const { api } = await openScene();
  const head = (encoding: string) => [
    'GET /v1/retirements HTTP/1.1',
    'host: x',
    `authorization: Bearer ${api.token}`,
    `accept-encoding: ${encoding}`,
    'connection: close',
  ];
  const send = async (encoding: string) => {
    const socket = await openSocket(api.port);
    const chunks: Buffer[] = [];
    socket.on('data', chunk => chunks.push(Buffer.from(chunk)));
    socket.write(`${head(encoding).join('\r\n')}\r\n\r\n`);
    await readUntilClosed(socket);
    const bytes = Buffer.concat(chunks);
    const end = bytes.indexOf('\r\n\r\n');
    return { headers: bytes.subarray(0, end).toString(), body: bytes.subarray(end + 4) };
  };
  const packed = await send('gzip, deflate');
  const whole = await send('identity');
  expect(packed.headers).toMatch(/content-encoding: gzip/i);
  expect(packed.headers).toMatch(/vary: accept-encoding/i);
  expect(whole.headers).not.toMatch(/content-encoding/i);
  const length = Number(/content-length: (\d+)/i.exec(packed.headers)?.[1] ?? packed.body.length);
  const unpacked = gunzipSync(packed.body.subarray(-length)).toString();
  expect(whole.body.toString()).toContain(unpacked.trim());
});

test('HEAD has the headers of GET and no body, and other methods are refused', async () => {
  const { api } = await openScene();
  const head = await api.get('/v1/retirements', { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(head.headers.get('etag')).toBe((await api.get('/v1/retirements')).headers.get('etag'));
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const refused = await api.get('/v1/retirements', { method });
    expect([refused.status, refused.headers.get('allow')], method).toEqual([405, 'GET, HEAD']);
    expect(await refused.json()).toMatchObject({ status: 405 });
  }
});

test('answers set no cookie, and no page of another site may read them unless it is named', async () => {
  const { api } = await openScene();
  const origin = 'https://shop.example.org';
  const names = (response: Response) =>
    [...response.headers.keys()].filter(name => /cookie|access-control/.test(name));
  expect(names(await api.get('/v1/retirements', { headers: { origin } }))).toEqual([]);
  const { api: open } = await openScene({ corsOrigins: [origin] });
  const answer = await open.get('/v1/retirements', { headers: { origin } });
  expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
  expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  const preflight = await open.get('/v1/retirements', {
    method: 'OPTIONS',
    token: null,
    headers: { origin },
  });
  expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
    204,
    'GET, HEAD',
  ]);
  const other = await open.get('/v1/retirements', { headers: { origin: 'https://evil.example' } });
  expect(names(other)).toEqual([]);
  for (const response of [answer, other]) expect(response.headers.get('vary')).toContain('origin');
});

test('T108 a cursor is accepted only for the list and the filters of its page', async () => {
  const { api } = await openScene();
  const { next } = await api.getJson('/v1/retirements?limit=1');
  expect((await api.get(`/v1/retirements?limit=2&after=${next}`)).status).toBe(200);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const decode = (cursor: string) => JSON.parse(Buffer.from(cursor, 'base64url').toString());
  const [digest, ...values] = decode(next);
  const [organizationDigest] = decode((await api.getJson('/v1/organizations?limit=1')).next);
  const cursors = [
    `/v1/projects?after=${next}`,
    `/v1/retirements?year=2026&after=${next}`,
    `/v1/retirements?as_of=now&after=${next}`,
    ...[
      'x',
      '%00',
      `${next}=`,
      `%20${next}`,
      encode([digest]),
      encode([digest, ...values, 'x']),
      encode([digest, "' OR 1=1 --", '1']),
      encode([digest, '2026-02-30T00:00:00.000Z', '1']),
      encode([digest, values[0], '99999999999999999999']),
      encode([digest, values[0], '1; DROP TABLE retirements']),
      encode([digest, { a: 1 }, 1]),
      encode({ digest }),
    ].map(cursor => `/v1/retirements?after=${cursor}`),
    `/v1/organizations?after=${encode([organizationDigest, { a: 1 }])}`,
  ];
  for (const path of cursors) {
    const response = await api.get(path);
    expect([response.status, await response.json()], path).toEqual([
      400,
      expect.objectContaining({ detail: expect.stringMatching(/^after: expected/) }),
    ]);
  }
  expect(api.faults).toEqual([]);
});

test.each([
  ['/v1/retirements?limit=0', 'limit: expected a whole number from 1 to 1000'],
  ['/v1/retirements?limit=1e3', 'limit: expected a whole number from 1 to 1000'],
  ['/v1/retirements?limit=1&limit=2', 'limit: expected it once'],
  ['/v1/retirements?as_of=yesterdays', 'as_of: Expected a date like'],
  ['/v1/retirements?as_of=9999', 'as_of: 9999 is in the future'],
  ['/v1/retirements?benefactor=x', 'beneficiary'],
  ['/v1/retirements?beneficiary=%00', 'beneficiary: expected a text without NUL'],
  ['/v1/retirements?year=20%2725', 'Expected a year like 2025'],
  ['/v1/jobs/x', 'id: expected a whole number'],
  ['/v1/jobs?state=sleeping', 'Expected one of waiting, running'],
  ['/v1/totals', 'list: '],
  ['/v1/totals?list=retirement', 'retirements'],
  ['/v1/changes?after=99999999', 'after: expected at most'],
  ['/v1/changes?after=-1', 'after: expected a whole number'],
  ['/v1/changes?wait=61', 'wait: expected a whole number from 0 to 60'],
  ['/v1/changes?organization_id=nobody', 'organization_id: There is no organization'],
  ['/v1/retirements/%E0%A4%A', 'could not be read'],
  ['/v1/openapi.json?a=1', 'no parameters'],
])('T108 %s is answered 400 with the expected form', async (path, text) => {
  const { api } = await openScene();
  const response = await api.get(path);
  expect(await response.json(), path).toMatchObject({ status: 400, detail: expect.stringContaining(text) });
  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(api.faults).toEqual([]);
});

test('T108 an id in a path has at most 1,000 characters', async () => {
  const { api } = await openScene();
  const statusOf = async (length: number) => (await api.get(`/v1/retirements/${'a'.repeat(length)}`)).status;
  expect([await statusOf(1_000), await statusOf(1_001)]).toEqual([404, 400]);
});

test('a client may repeat a request after five seconds if the database could not be read', async () => {
  const fault = new StoreError('away', 'the database is locked');
  const withReader = async () => await Promise.reject(fault);
  const { api } = await openScene({ readers: { withReader } });
  const response = await api.get('/v1/retirements');
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await response.json()).toMatchObject({ detail: 'The database cannot be read at present.' });
  expect(api.faults).toEqual([fault]);
});

test('T108 header tricks get one answer each, and none of another request', async () => {
  const { api } = await openScene();
  const authorization = `authorization: Bearer ${api.token}`;
  const send = (...lines: readonly string[]) =>
    api.sendRaw('GET /v1/retirements HTTP/1.1', 'host: x', ...lines);
  const status = async (...lines: readonly string[]) => (await send(...lines)).slice(9, 12);
  expect(await status(authorization)).toBe('200');
  expect(await status(authorization, 'authorization: Bearer x')).toBe('200');
  expect(await status('authorization: Bearer x', authorization)).toBe('401');
  expect(await status(`Authorization : Bearer ${api.token}`)).toBe('400');
  expect(await status(`authorization:\r\n Bearer ${api.token}`)).toBe('400');
  expect(await status(authorization, 'content-length: 5', 'transfer-encoding: chunked')).toBe('400');
  expect(await status(`x: ${'a'.repeat(20_000)}`)).toBe('431');
  expect(await status(authorization, `range: bytes=0-1`)).toBe('200');
  expect(
    (await api.sendRaw('GET http://other/v1/retirements HTTP/1.1', 'host: x', authorization)).slice(9, 12),
  ).toBe('400');
  expect((await api.sendRaw(`GET /v1/${'a'.repeat(9000)} HTTP/1.1`, 'host: x')).slice(9, 12)).toBe('414');
  expect(api.faults).toEqual([]);
});

test('a certificate is sent whole, or not at all', async () => {
  const bytes = Buffer.from('%PDF-1.4 a certificate');
  const files = new Map([
    ['good.pdf', bytes],
    ['bad.pdf', Buffer.from('%PDF-1.4 damaged')],
  ]);
  const openPdf = async (file: string) => {
    const content = files.get(file);
    return content === undefined
      ? null
      : (async function* () {
          yield content;
        })();
  };
  const { api, tables } = await openScene({ openPdf });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const store = (organization: string, retirement: string, file: string) =>
    tables.change(
      `INSERT INTO certificates (version, organization_id, retirement_id, state, file, sha256, size, fetched_at, checked_at,
          due_at, attempts, error, retirement_version, valid_from, sync_id)
        VALUES ((SELECT coalesce(max(version), 900000) + 1 FROM certificates), ?, ?, 'stored', ?, ?, 20,
          '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', '2026-05-04T12:00:00.000Z', 0, NULL, 1, '2026-05-04T12:00:00.000Z', 1)`,
      organization,
      retirement,
      file,
      sha256,
    );
  await store('organization-1', 'r-1-0', 'good.pdf');
  await store('organization-2', 'r-2-0', 'bad.pdf');
  const good = await api.get('/v1/certificates/r-1-0/pdf');
  expect([good.status, good.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  expect(Buffer.from(await good.arrayBuffer())).toEqual(bytes);
  const etag = String(good.headers.get('etag'));
  expect((await api.get('/v1/certificates/r-1-0/pdf', { headers: { 'if-none-match': etag } })).status).toBe(
    304,
  );
  const statusOf = async (path: string) => (await api.get(`/v1/certificates/${path}`)).status;
  expect(await statusOf('r-1-0/pdf?organization_id=organization-1')).toBe(200);
  expect(await statusOf('r-1-0/pdf?organization_id=organization-2')).toBe(404);
  expect((await api.get('/v1/certificates/r-9-9/pdf')).status).toBe(404);
  expect((await api.get('/v1/certificates/r-1-0/pdf?as_of=2020')).status).toBe(404);
  const token = await api.createToken({ organizationIds: ['organization-2'] });
  expect((await api.get('/v1/certificates/r-1-0/pdf', { token })).status).toBe(404);
  await store('organization-2', 'r-1-0', 'good.pdf');
  expect([await statusOf('r-1-0/pdf'), await statusOf('r-1-0/pdf?organization_id=organization-2')]).toEqual([
    400, 200,
  ]);
  expect(api.faults).toEqual([]);
  expect((await api.get('/v1/certificates/r-2-0/pdf')).status).toBe(500);
  expect(String(api.faults)).toContain('bad.pdf is missing or damaged');
});
