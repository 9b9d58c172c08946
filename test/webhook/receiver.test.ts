import { randomBytes, randomInt } from 'node:crypto';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { WEBHOOK_EVENTS } from '../../src/registry/object-models.js';
import {
  type Receiver,
  installationOf,
  OLD_SECRET,
  openReceiver,
  payloadOf,
  rawSignedPost,
  requestBytes,
  SECRET,
  signedPost,
} from '../support/receiver.js';
import { type LoadConnection, openConnection } from '../support/load.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { openTablesIn } from '../support/tables.js';
import { sendAndReadAll } from '../support/wire.js';

const UNAUTHORIZED = {
  type: 'about:blank',
  title: 'Unauthorized',
  status: 401,
  detail: 'the signature is not valid',
};

async function expectProblem(response: Response, status: number): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('x-powered-by')).toBeNull();
  const text = await response.text();
  expect(JSON.parse(text)).toEqual({
    type: 'about:blank',
    title: expect.any(String),
    status,
    detail: expect.any(String),
  });
  expect(text).not.toMatch(/\bat\b .*:\d+|node_modules|\/src\/|SQLITE|\wError|Error:/);
}

async function postStatus(receiver: Receiver, post: { body: string; headers: Record<string, string> }) {
  const response = await receiver.post(post.body, post.headers);
  await response.arrayBuffer();
  return response.status;
}

describe('a genuine delivery', () => {
  test('is answered 202 and stored with its installation, for each of the seven events', async () => {
    const receiver = await openReceiver();
    for (const [index, event] of WEBHOOK_EVENTS.entries()) {
      const post = signedPost(
        payloadOf({ event, installation: installationOf({ id: `installation-${index}` }) }),
      );
      expect(await postStatus(receiver, post)).toBe(202);
    }
    expect(receiver.db.prepare('SELECT event, installation_id FROM deliveries ORDER BY id').all()).toEqual(
      WEBHOOK_EVENTS.map((event, index) => ({ event, installation_id: `installation-${index}` })),
    );
    expect(await receiver.inbox.countJobs()).toMatchObject({ waiting: 7 });
  });

  test('T06 may be signed with any configured secret, and the secret is recorded', async () => {
    const receiver = await openReceiver();
    expect(await postStatus(receiver, signedPost())).toBe(202);
    expect(await postStatus(receiver, signedPost(payloadOf(), { secret: OLD_SECRET }))).toBe(202);
    expect(await postStatus(receiver, signedPost(payloadOf(), { secret: `${SECRET}x` }))).toBe(401);
    expect(receiver.answers.map(answer => answer.delivery?.secretIndex)).toEqual([0, 1, undefined]);
    expect(receiver.db.prepare('SELECT secret_index FROM deliveries').pluck().all()).toEqual([0, 1]);
  });

  test('T61 is on disk when its 202 arrives, as another database connection sees', async () => {
    const db = temporaryInbox(temporaryFolder());
    const receiver = await openReceiver({ db });
    const { value } = openTablesIn(dirname(db.name));
    let answered = 0;
    const senders = Array.from({ length: 8 }, async (_, sender) => {
      const connection = openConnection(receiver.port);
      for (let nonce = 0; nonce < 10; nonce += 1) {
        expect(await connection.send(requestBytes(signedPost(payloadOf({ sender, nonce }))))).toBe(202);
        answered += 1;
        const due = answered;
        expect(await value<number>('SELECT count(*) FROM deliveries')).toBeGreaterThanOrEqual(due);
      }
      connection.close();
    });
    await Promise.all(senders);
    expect(receiver.stored()).toBe(80);
  });

  test('is accepted with a header prefix in capitals, and its duration is reported', async () => {
    const receiver = await openReceiver({ headerPrefix: 'Registry' });
    expect(await postStatus(receiver, signedPost())).toBe(202);
    expect(await postStatus(receiver, { body: '{}', headers: { 'content-type': 'text/plain' } })).toBe(415);
    const [stored, refused] = receiver.answers;
    expect(stored?.durationMs).toBeLessThan(Date.now() / 2);
    expect(refused).toMatchObject({ durationMs: 0, rejection: { headerPrefix: '' } });
  });

  test('T10 T12 with unusable content is answered 202, stored and ignored without a job', async () => {
    const receiver = await openReceiver();
    const posts = [
      signedPost(payloadOf({ installation: installationOf({ appId: 'another' }) })),
      rawSignedPost('no base64 at all'),
      signedPost(`${'['.repeat(20_000)}${']'.repeat(20_000)}`),
      signedPost('{"__proto__":{"polluted":1}}'),
      signedPost('{"event":"installed","event":"uninstalled"}'),
    ];
    for (const post of posts) expect(await postStatus(receiver, post)).toBe(202);
    expect(
      receiver.db.prepare('SELECT verdict, ignored_reason AS reason, job_id FROM deliveries').all(),
    ).toEqual(
      ['other_app', 'not_base64', 'nested_too_deep', 'prototype_key', 'duplicate_key'].map(reason => ({
        verdict: 'ignored',
        reason,
        job_id: null,
      })),
    );
    expect(await receiver.inbox.listSignedTexts(1, 1)).toEqual([{ id: 2, signedData: 'no base64 at all' }]);
    expect(await receiver.inbox.countJobs()).toMatchObject({ waiting: 0 });
    expect('polluted' in {}).toBe(false);
  });
});

describe('a forged delivery', () => {
  test('T01 T15 is rejected and not stored, and 1,900 of them delay none of 100 genuine ones', async () => {
    const receiver = await openReceiver();
    let genuine = 0;
    let next = 0;
    const sendOne = async (connection: LoadConnection, index: number): Promise<void> => {
      const post = signedPost(payloadOf({ nonce: randomBytes(6).toString('hex') }));
      if (index % 20 === 0) {
        genuine += 1;
        expect(await connection.send(requestBytes(post))).toBe(202);
      } else {
        const forged = index % 2 === 0 ? forgeHeader(post) : forgeText(post);
        expect(await connection.send(requestBytes(forged))).toBe(401);
      }
    };
    const connections = Array.from({ length: 20 }, () => openConnection(receiver.port));
    await Promise.all(
      connections.map(async connection => {
        for (let index = next++; index < 2000; index = next++) await sendOne(connection, index);
        connection.close();
      }),
    );
    expect(genuine).toBe(100);
    expect(receiver.stored()).toBe(100);
  });

  test.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['only the prefix', 'sha256='],
    ['no prefix', (good: string) => good.slice(7)],
    ['another prefix', (good: string) => good.replace('sha256', 'sha1')],
    ['63 digits', (good: string) => good.slice(0, -1)],
    ['65 digits', (good: string) => `${good}0`],
    ['junk after the digits', (good: string) => `${good} x`],
    ['capital digits', (good: string) => `sha256=${good.slice(7).toUpperCase()}`],
    ['a letter outside ASCII', (good: string) => `${good.slice(0, -1)}\u00e9`],
  ])('T02 with %s gets the same answer as any other', async (_title, header) => {
    const receiver = await openReceiver();
    const { body, headers } = signedPost();
    const good = headers['x-registry-signature-256'] ?? '';
    const signature = typeof header === 'function' ? header(good) : header;
    const response = await receiver.post(
      body,
      signature === undefined ? {} : { 'x-registry-signature-256': signature },
    );
    expect(response.status).toBe(401);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toEqual(UNAUTHORIZED);
    expect(receiver.stored()).toBe(0);
  });

  test('T02 with two headers is rejected, even if one is good', async () => {
    const receiver = await openReceiver();
    const { body, headers } = signedPost();
    const good = headers['x-registry-signature-256'] ?? '';
    for (const signatures of [
      [good, good],
      [good, `sha256=${'0'.repeat(64)}`],
    ]) {
      const head = [
        'POST /webhooks HTTP/1.1',
        'host: x',
        `content-length: ${body.length}`,
        'connection: close',
        ...signatures.map(signature => `x-registry-signature-256: ${signature}`),
      ];
      const answer = await sendAndReadAll(receiver.port, `${head.join('\r\n')}\r\n\r\n${body}`);
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
      expect(answer).toContain(JSON.stringify(UNAUTHORIZED));
    }
    expect(receiver.stored()).toBe(0);
  });
});

describe('an unusable request', () => {
  test.each(['{}', '{"signedData":null}', '{"signedData":1}', '{"signedData":[]}', '{"signedData":{}}'])(
    'T05 %s is answered 400',
    async body => {
      const receiver = await openReceiver();
      await expectProblem(await receiver.post(body), 400);
      expect(receiver.stored()).toBe(0);
    },
  );

  test.each<[string, number, string | Buffer, Record<string, string>]>([
    ['65 kB', 413, 'x'.repeat(65_537), {}],
    ['an encoded body', 415, '{}', { 'content-encoding': 'gzip' }],
    ['another content type that ends like JSON', 415, '{}', { 'content-type': 'text/x-application/json' }],
    ['a form', 415, 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['plain text', 415, '{}', { 'content-type': 'text/plain' }],
    ['a declared UTF-16', 415, '{}', { 'content-type': 'application/json; charset=utf-16' }],
    ['UTF-16', 400, Buffer.from('{"signedData":"e30="}', 'utf16le'), {}],
    ['a byte order mark', 400, '\uFEFF{"signedData":"e30="}', {}],
    ['nothing', 400, '', {}],
  ])('T13 %s is answered %d', async (_title, status, body, headers) => {
    const receiver = await openReceiver();
    await expectProblem(await receiver.post(body, headers), status);
    expect(receiver.stored()).toBe(0);
  });

  test('T13 65 kB without a content length are answered 413, and the connection stays open', async () => {
    const receiver = await openReceiver();
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const good = signedPost();
    const answer = await sendAndReadAll(
      receiver.port,
      `POST /webhooks HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(3)}0\r\n\r\n` +
        `POST /webhooks HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${good.body.length}\r\n` +
        `x-registry-signature-256: ${good.headers['x-registry-signature-256']}\r\n\r\n${good.body}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('HTTP/1.1 202 ');
  });

  test('T13 a body of exactly 64 kB is accepted, with or without a charset', async () => {
    const receiver = await openReceiver();
    const bare = signedPost(payloadOf(), { outer: { pad: '' } });
    const pad = 'x'.repeat(65_536 - Buffer.byteLength(bare.body));
    const { body, headers } = signedPost(payloadOf(), { outer: { pad } });
    expect(Buffer.byteLength(body)).toBe(65_536);
    expect(await postStatus(receiver, { body, headers })).toBe(202);
    const type = { 'content-type': 'Application/JSON; charset="UTF-8"' };
    expect(await postStatus(receiver, { body, headers: { ...headers, ...type } })).toBe(202);
  });

  test.each(['GET', 'PUT', 'OPTIONS', 'DELETE', 'PATCH'])(
    'T16 %s is answered 405 with the allowed method',
    async method => {
      const receiver = await openReceiver();
      const response = await fetch(`${receiver.url}/webhooks`, { method });
      expect(response.headers.get('allow')).toBe('POST');
      await expectProblem(response, 405);
    },
  );

  test.each([
    '/webhooks/',
    '/Webhooks',
    '/webhooks/x',
    '//webhooks',
    '/webhooks%2f',
    '/.env',
    '/index.html',
    '/%00',
    '/..%2f..%2fetc%2fpasswd',
  ])('T16 a post to %s is answered 404', async path => {
    const receiver = await openReceiver();
    const { body, headers } = signedPost();
    const response = await fetch(receiver.url + path, { method: 'POST', headers, body });
    await expectProblem(response, 404);
    expect(receiver.stored()).toBe(0);
  });

  test('T16 a path that cannot be decoded is answered 404', async () => {
    const receiver = await openReceiver();
    await expectProblem(await fetch(`${receiver.url}/%E0%A4%A`), 404);
  });

  test('T16 an exception is answered 500 without details', async () => {
    const identityHeaders = {
      get broken(): string {
        throw new Error('at /src/secret.ts:1');
      },
    };
    const receiver = await openReceiver({ identityHeaders });
    await expectProblem(await fetch(`${receiver.url}/webhooks`, { method: 'PUT' }), 500);
  });

  test('the front page describes the receiver', async () => {
    const receiver = await openReceiver();
    const response = await fetch(receiver.url);
    expect(response.status).toBe(200);
    const { headers } = response;
    expect([headers.get('content-type'), headers.get('x-content-type-options'), headers.get('etag')]).toEqual(
      ['text/html; charset=utf-8', 'nosniff', null],
    );
    expect(await response.text()).toMatch(/<title>carbon-mirror<\/title>[^]*\/webhooks/);
    await expectProblem(await fetch(receiver.url, { method: 'POST' }), 405);
  });

  test('T79 the landing page is one fixed page, and nothing of its address is stored or shown', async () => {
    const receiver = await openReceiver();
    const address = `${receiver.url}/installed?state=s3cret&installationId=i-1&event=installed`;
    const response = await fetch(address);
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toMatch(/<title>Installed<\/title>[^]*your credits follow/);
    expect(text).not.toMatch(/s3cret|i-1/);
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'$/,
    );
    expect({ jobs: (await receiver.inbox.countJobs()).waiting, deliveries: receiver.stored() }).toEqual({
      jobs: 0,
      deliveries: 0,
    });
    await expectProblem(await fetch(address, { method: 'POST', body: '{}' }), 405);
  });
});

/** Changes one digit of the signature. */
function forgeHeader({ body, headers }: { body: string; headers: Record<string, string> }) {
  const good = headers['x-registry-signature-256'] ?? '';
  const at = 7 + randomInt(64);
  const digit = (Number.parseInt(good.charAt(at), 16) + 1 + randomInt(15)) % 16;
  const forged = good.slice(0, at) + digit.toString(16) + good.slice(at + 1);
  return { body, headers: { 'x-registry-signature-256': forged } };
}

/** Changes one character of the signed text. */
function forgeText({ body, headers }: { body: string; headers: Record<string, string> }) {
  const outer = JSON.parse(body);
  const signedData = String(outer.signedData);
  const at = randomInt(signedData.length);
  const other = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/='.replace(
    signedData.charAt(at),
    '',
  );
  const forged = signedData.slice(0, at) + other.charAt(randomInt(other.length)) + signedData.slice(at + 1);
  return { body: JSON.stringify({ ...outer, signedData: forged }), headers };
}
