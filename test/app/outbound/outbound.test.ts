import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { listenOnFreePort } from '../../support/listen.js';
import { createOutbound, type OutboundOptions } from '../../../src/app/outbound/outbound.js';

const CERTIFICATES = join(import.meta.dirname, '../../fixtures/outbound');
const certificate = readFileSync(join(CERTIFICATES, 'certificate.pem'), 'utf8');
const LOOPBACK = { address: '127.0.0.1', family: 4 } as const;

const startServer = (handle: RequestListener) => listenOnFreePort(createServer(handle));

function openOutbound(options: Partial<OutboundOptions> = {}) {
  const outbound = createOutbound({ allowed: ['loopback'], ...options });
  onTestFinished(outbound.close);
  return {
    ...outbound,
    post: (url: string, body = 'text') =>
      outbound.post({ url, body, headers: { 'x-test': '1' }, maxResponseBytes: 1_000 }),
  };
}

test('a post sends its headers and body, and returns the status and the answer', async () => {
  const port = await startServer((request, response) => {
    let body = '';
    request.on('data', part => (body += String(part)));
    request.on('end', () =>
      response.writeHead(202).end(`${request.method} ${body} ${String(request.headers['x-test'])}`),
    );
  });
  const { post } = openOutbound();
  const { status, body } = await post(`http://127.0.0.1:${port}/`, 'é');
  expect([status, Buffer.from(body).toString()]).toEqual([202, 'POST é 1']);
});

test.each([
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0x7f.0.0.1/',
  'https://2130706433/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://10.0.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://[fd00:ec2::254]/',
  'https://100.64.0.1/',
  'https://0.0.0.0/',
])('T100 %s is refused without a connection', async url => {
  const { post } = openOutbound({ allowed: [] });
  await expect(post(url)).rejects.toMatchObject({ code: 'address_refused' });
});

test.each([
  '127.0.0.1',
  '::ffff:127.0.0.1',
  '::1',
  '10.1.2.3',
  'fe80::1',
  'fd00:ec2::254',
  '169.254.169.254',
  '100.64.0.1',
])('T100 a host name that resolves to %s is refused, also beside a public address', async address => {
  const family = address.includes(':') ? 6 : 4;
  for (const first of [[], [{ address: '93.184.216.34', family: 4 }]]) {
    const { post } = openOutbound({ allowed: [], resolveHost: async () => [...first, { address, family }] });
    await expect(post('https://hooks.example/')).rejects.toMatchObject({ code: 'address_refused' });
  }
});

test('T100 a setting allows loopback and private ranges, but never metadata and link-local addresses', async () => {
  for (const address of ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', 'fe80::1']) {
    const family = address.includes(':') ? 6 : 4;
    const { post } = openOutbound({
      allowed: ['loopback', 'private'],
      resolveHost: async () => [{ address, family }],
    });
    await expect(post('https://hooks.example/')).rejects.toMatchObject({ code: 'address_refused' });
  }
});

test('T100 a host name is resolved once, and the connection goes to the address that was checked', async () => {
  const port = await startServer((_, response) => void response.end('reached'));
  const resolveHost = vi
    .fn<NonNullable<OutboundOptions['resolveHost']>>()
    .mockResolvedValueOnce([LOOPBACK])
    .mockResolvedValue([{ address: '10.0.0.1', family: 4 }]);
  const { post } = openOutbound({ resolveHost });
  expect((await post(`http://rebinding.example:${port}/`)).status).toBe(200);
  expect(resolveHost).toHaveBeenCalledTimes(1);
});

test('plain http is refused for every address that is not a loopback one', async () => {
  const { post } = openOutbound({ resolveHost: async () => [{ address: '93.184.216.34', family: 4 }] });
  await expect(post('http://hooks.example/')).rejects.toThrow('expected https');
  for (const url of [
    'ftp://hooks.example/',
    'https://user:word@hooks.example/',
    'file:///etc/passwd',
    'text',
  ])
    await expect(post(url)).rejects.toMatchObject({ code: 'address_refused' });
});

test('https verifies the certificate for the host name of the URL', async () => {
  const key = readFileSync(join(CERTIFICATES, 'key.pem'));
  const server = createHttpsServer({ key, cert: certificate }, (_, response) => void response.end('ok'));
  const port = await listenOnFreePort(server);
  const { post } = openOutbound({ ca: certificate, resolveHost: async () => [LOOPBACK] });
  expect((await post(`https://receiver.example:${port}/`)).status).toBe(200);
  await expect(post(`https://other.example:${port}/`)).rejects.toThrow('ERR_TLS_CERT_ALTNAME_INVALID');
  const { post: postTrusting } = openOutbound({ resolveHost: async () => [LOOPBACK] });
  await expect(postTrusting(`https://receiver.example:${port}/`)).rejects.toMatchObject({
    code: 'unreachable',
  });
});

test('T101 a redirect is returned as it is and never followed', async () => {
  let visits = 0;
  const target = await startServer((_, response) => {
    visits += 1;
    response.end();
  });
  const port = await startServer(
    (_, response) => void response.writeHead(307, { location: `http://127.0.0.1:${target}/` }).end(),
  );
  expect((await openOutbound().post(`http://127.0.0.1:${port}/`)).status).toBe(307);
  expect(visits).toBe(0);
});

test('T101 an endless answer is cut at the size limit', async () => {
  const port = await startServer((_, response) => {
    const write = () => {
      while (response.write('x'.repeat(10_000)));
    };
    response.on('drain', write);
    write();
  });
  await expect(openOutbound().post(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'too_large' });
});

test('T101 a server that does not answer, or stops within its answer, is left after ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let arrived = () => {};
  const silent = await startServer(() => arrived());
  const stopping = await startServer((_, response) => {
    response.write('begun');
    arrived();
  });
  for (const port of [silent, stopping]) {
    const isThere = new Promise<void>(resolve => (arrived = resolve));
    const posted = openOutbound().post(`http://127.0.0.1:${port}/`);
    const failed = posted.catch((error: unknown) => error);
    await isThere;
    await vi.advanceTimersByTimeAsync(9_999);
    await vi.advanceTimersByTimeAsync(1);
    expect(await failed).toMatchObject({ code: 'timeout' });
  }
});

test('T101 a server that closes early, sends no HTTP or does not listen is unreachable', async () => {
  const closing = await listenOnFreePort(
    createTcpServer(socket => void socket.once('data', () => socket.destroy())),
  );
  const babbling = await listenOnFreePort(
    createTcpServer(socket => void socket.once('data', () => socket.end('no http\r\n'))),
  );
  const partial = await startServer((_, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('x');
    setTimeout(() => response.destroy(), 10);
  });
  const { post } = openOutbound();
  for (const port of [closing, babbling, partial, 1])
    await expect(post(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'unreachable' });
});

test('T100 the proxy of the environment is not used', async () => {
  let visits = 0;
  const proxy = await startServer((_, response) => {
    visits += 1;
    response.end();
  });
  const port = await startServer((_, response) => void response.writeHead(201).end());
  for (const name of [
    'http_proxy',
    'HTTP_PROXY',
    'https_proxy',
    'HTTPS_PROXY',
    'ALL_PROXY',
    'NODE_USE_ENV_PROXY',
  ])
    vi.stubEnv(name, name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${proxy}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect((await openOutbound().post(`http://127.0.0.1:${port}/`)).status).toBe(201);
  expect(visits).toBe(0);
});

test('a connection that was closed while it was idle is replaced without an error', async () => {
  const server = createServer((_, response) => void response.end());
  server.keepAliveTimeout = 60_000;
  const port = await listenOnFreePort(server);
  const { post } = openOutbound();
  await post(`http://127.0.0.1:${port}/`);
  server.closeAllConnections();
  expect((await post(`http://127.0.0.1:${port}/`)).status).toBe(200);
});

test('close ends requests that wait', async () => {
  let arrived = () => {};
  const isThere = new Promise<void>(resolve => (arrived = resolve));
  const port = await startServer(() => arrived());
  const { post, close } = openOutbound();
  const posted = post(`http://127.0.0.1:${port}/`);
  const failed = posted.catch((error: unknown) => error);
  await isThere;
  close();
  expect(await failed).toMatchObject({ code: 'stopped' });
});
