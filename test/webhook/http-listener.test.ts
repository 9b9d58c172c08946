import express, { type RequestHandler } from 'express';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DEFAULT_LIMITS, listen, listenForPeople } from '../../src/webhook/http-listener.js';
import { openReceiver, payloadOf, requestBytes, signedPost } from '../support/receiver.js';
import { openConnection } from '../support/load.js';
import { openSocket, readUntilClosed, sendAndReadAll } from '../support/wire.js';

const ANY_PORT = { host: '127.0.0.1', port: 0 };
const TIMED_OUT = /^HTTP\/1\.1 408 Request Timeout\r\ncontent-type: application\/problem\+json\r\n/;
const SLOW_BODY = 'POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"sig';
const QUICK = { headersTimeoutMs: 200, requestTimeoutMs: 400, checkIntervalMs: 20 };

test('T14 slow headers and slow bodies time out separately, and delay no genuine post', async () => {
  const receiver = await openReceiver({ ...QUICK, headersTimeoutMs: 2000, requestTimeoutMs: 600_000 });
  const slowHeaders = await openSocket(receiver.port);
  const slowBody = await openSocket(receiver.port);
  slowHeaders.write('POST /webhooks HTTP/1.1\r\nhost: x\r\nx-slow: ');
  slowBody.write(SLOW_BODY);
  expect(await readUntilClosed(slowHeaders)).toMatch(TIMED_OUT);
  expect(slowBody.readyState).toBe('open');
  const good = signedPost();
  expect((await receiver.post(good.body, good.headers)).status).toBe(202);
  slowBody.destroy();
  const other = await openSocket((await openReceiver(QUICK)).port);
  other.write(SLOW_BODY);
  expect(await readUntilClosed(other)).toMatch(TIMED_OUT);
});

test('T14 a body that arrives byte by byte times out', async () => {
  const receiver = await openReceiver(QUICK);
  const socket = await openSocket(receiver.port);
  socket.write('POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 60000\r\n\r\n');
  const drip = setInterval(() => socket.write('x'), 10);
  expect(await readUntilClosed(socket)).toMatch(/^HTTP\/1\.1 408 /);
  clearInterval(drip);
  expect(receiver.stored()).toBe(0);
});

test('T14 200 idle connections delay no post, and are closed', async () => {
  const receiver = await openReceiver({ ...QUICK, headersTimeoutMs: 2000, requestTimeoutMs: 3000 });
  let cut = 0;
  const idle = await Promise.all(Array.from({ length: 200 }, () => openSocket(receiver.port)));
  const closed = Promise.all(
    idle.map(async socket => {
      await readUntilClosed(socket);
      cut += 1;
    }),
  );
  const good = signedPost();
  expect((await receiver.post(good.body, good.headers)).status).toBe(202);
  await closed;
  expect(cut).toBe(200);
});

test('T14 T18 by default headers may take 10 s, a request 15 s, and a connection may pipeline 32 requests', () => {
  const { headersTimeoutMs, requestTimeoutMs, maxPipelinedRequests, maxConnections } = DEFAULT_LIMITS;
  expect([headersTimeoutMs, requestTimeoutMs, maxPipelinedRequests, maxConnections]).toEqual([
    10_000, 15_000, 32, 1000,
  ]);
});

test('T18 by default a sender may read nothing of its response for 5 s, and a browser for 30 s', async () => {
  const setTimer = vi.spyOn(globalThis, 'setInterval');
  onTestFinished(() => setTimer.mockRestore());
  for (const start of [listen, listenForPeople]) {
    const listening = await start(express(), ANY_PORT);
    onTestFinished(() => listening.close());
  }
  // Each limiter checks its connections five times within this time.
  expect(setTimer.mock.calls.map(([, ms]) => ms)).toEqual([1000, 6000]);
});

test('T13 a body announced as too large is refused before it arrives, and the next request is handled', async () => {
  const receiver = await openReceiver();
  const socket = await openSocket(receiver.port);
  const answers: string[] = [];
  socket.on('data', part => answers.push(String(part)));
  socket.write('POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 70000\r\n\r\n');
  await expect.poll(() => answers.join('')).toMatch(/^HTTP\/1\.1 413 /);
  socket.write(Buffer.concat([Buffer.alloc(70_000), requestBytes(signedPost())]));
  await expect.poll(() => answers.join('')).toContain('HTTP/1.1 202 ');
  socket.destroy();
});

test.each([
  ['a request that is not HTTP', 'BLURB\r\n\r\n', 400, 'Bad Request'],
  [
    '20 kB of headers',
    `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
    431,
    'Request Header Fields Too Large',
  ],
])('T16 %s is answered with a problem document', async (_title, text, status, title) => {
  const receiver = await openReceiver();
  const [head = '', body = ''] = (await sendAndReadAll(receiver.port, text)).split('\r\n\r\n');
  expect(head).toMatch(
    new RegExp(`^HTTP/1.1 ${status} ${title}\r\ncontent-type: application/problem\\+json`),
  );
  expect(JSON.parse(body)).toEqual({ type: 'about:blank', title, status, detail: expect.any(String) });
});

test('T16 a connection that resets or keeps sending junk disturbs no other one', async () => {
  const receiver = await openReceiver();
  const reset = await openSocket(receiver.port);
  reset.write('POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"sig');
  const talking = await openSocket(receiver.port);
  for (let line = 0; line < 5; line += 1) talking.write('BLURB\r\n\r\n');
  await readUntilClosed(talking);
  reset.resetAndDestroy();
  const good = signedPost();
  expect((await receiver.post(good.body, good.headers)).status).toBe(202);
});

test('a listener leaves no timer behind after it closes or fails to bind its port', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const listening = await listen(express(), ANY_PORT);
  await expect(listen(express(), { ...ANY_PORT, port: listening.port })).rejects.toThrow('EADDRINUSE');
  expect(vi.getTimerCount()).toBe(1);
  await listening.close();
  expect(vi.getTimerCount()).toBe(0);
});

test('a listener for people closes the response when the client closes its half of the connection', async () => {
  let hasLeft = false;
  const app = express().use((_request, response) => void response.once('close', () => (hasLeft = true)));
  const listening = await listenForPeople(app, ANY_PORT);
  onTestFinished(() => listening.close());
  const socket = await openSocket(listening.port);
  socket.end('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await expect.poll(() => hasLeft).toBe(true);
});

test('T87 a listener for people disconnects a client that reads nothing for 30 s, and no sooner', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const states = { isWaiting: false, isClosed: false };
  const listening = await listenForPeople((request, response) => {
    request.socket.once('close', () => (states.isClosed = true));
    response.end(Buffer.alloc(64 * 1024 * 1024));
    states.isWaiting = true;
  }, ANY_PORT);
  onTestFinished(() => listening.close());
  const socket = await openSocket(listening.port);
  socket.on('error', () => undefined);
  socket.pause().write(get('/'));
  await expect.poll(() => states.isWaiting).toBe(true);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(states.isClosed).toBe(false);
  await vi.advanceTimersByTimeAsync(31_000);
  await expect.poll(() => states.isClosed).toBe(true);
});

test('a receiver handles pipelined requests before it has answered the previous ones', async () => {
  const handled: string[] = [];
  const listening = await listen(({ url = '' }) => void handled.push(url), {
    ...ANY_PORT,
    shutdownGraceMs: 0,
  });
  onTestFinished(() => listening.close());
  const socket = await openSocket(listening.port);
  socket.on('error', () => undefined).write(get('/first') + get('/second'));
  await expect.poll(() => handled).toEqual(['/first', '/second']);
});

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

test('T87 a listener for people handles a pipelined request after the previous response, and never after the connection closed', async () => {
  const handled: string[] = [];
  const app = express().use(({ path }, response) => {
    handled.push(path);
    if (path !== '/stays-open') response.end();
  });
  const listening = await listenForPeople(app, ANY_PORT);
  onTestFinished(() => listening.close());
  const socket = await openSocket(listening.port);
  socket.resume().write(['/first', '/second', '/stays-open', '/behind'].map(get).join(''));
  await expect.poll(() => handled).toEqual(['/first', '/second', '/stays-open']);
  socket.destroy();
  const other = await openSocket(listening.port);
  other.resume().write(get('/other'));
  await expect.poll(() => handled).toEqual(['/first', '/second', '/stays-open', '/other']);
  other.destroy();
});

test('T87 a listener for people handles no request after a response that closes the connection', async () => {
  const handled: string[] = [];
  const app = express().use(({ path }, response) => {
    handled.push(path);
    response.set('connection', 'close').end();
  });
  const listening = await listenForPeople(app, ANY_PORT);
  onTestFinished(() => listening.close());
  await sendAndReadAll(listening.port, get('/last') + get('/behind'));
  expect(handled).toEqual(['/last']);
});

test.each(['1.0', '1.1'])(
  'a response over HTTP/%s that is interrupted by a closing listener does not look complete',
  async version => {
    const app = express().use((_request, response) => void response.write('the first half'));
    const listening = await listenForPeople(app, ANY_PORT);
    const socket = await openSocket(listening.port);
    const reset = new Promise(resolve => socket.once('error', resolve));
    socket.write(`GET / HTTP/${version}\r\nhost: x\r\n\r\n`);
    await new Promise(resolve => socket.once('data', resolve));
    await listening.close();
    expect(await reset).toMatchObject({ code: 'ECONNRESET' });
  },
);

test('requests and responses are created with the prototypes of the Express app', async () => {
  const hasAppPrototype: boolean[] = [];
  const app = express().use((request, response) => {
    for (const [message, prototype] of [
      [request, app.request],
      [response, app.response],
    ] as const) {
      hasAppPrototype.push(
        message.constructor.prototype === prototype,
        Object.getPrototypeOf(message) === prototype,
      );
    }
    response.sendStatus(202);
  });
  const listening = await listen(app, ANY_PORT);
  onTestFinished(() => listening.close());
  expect((await fetch(`http://127.0.0.1:${listening.port}/`)).status).toBe(202);
  expect(hasAppPrototype).toEqual([true, true, true, true]);
});

test('a listener accepts a plain request handler', async () => {
  const listening = await listen((_request, response) => response.writeHead(204).end(), ANY_PORT);
  onTestFinished(() => listening.close());
  expect((await fetch(`http://127.0.0.1:${listening.port}/`)).status).toBe(204);
});

test('a sender that closes its half after its post still gets its answer after a slow flush', async () => {
  const answerLate: RequestHandler = (request, response) => {
    request.resume();
    setTimeout(() => response.writeHead(202).end(), 50);
  };
  const listening = await listen(express().use(answerLate), ANY_PORT);
  onTestFinished(() => listening.close());
  const socket = await openSocket(listening.port);
  socket.end(requestBytes(signedPost()));
  expect(await readUntilClosed(socket)).toMatch(/^HTTP\/1\.1 202 /);
});

test('a sender that closes its half before the body is complete is not answered 202', async () => {
  const receiver = await openReceiver();
  const good = signedPost();
  const socket = await openSocket(receiver.port);
  socket.end(requestBytes(good).subarray(0, -5));
  expect(await readUntilClosed(socket)).not.toMatch(/ 202 /);
  expect(receiver.stored()).toBe(0);
});

test('closing answers requests in progress, closes idle connections and accepts no new one', async () => {
  const receiver = await openReceiver();
  const idle = await openSocket(receiver.port);
  const cut = readUntilClosed(idle);
  const connection = openConnection(receiver.port);
  expect(await connection.send(requestBytes(signedPost()))).toBe(202);
  const inProgress = connection.send(requestBytes(signedPost()));
  await new Promise(setImmediate);
  await receiver.listening.close();
  expect([202, 0]).toContain(await inProgress);
  expect(await cut).toBe('');
  expect(receiver.stored()).toBe(receiver.answers.filter(answer => answer.status === 202).length);
  await expect(openSocket(receiver.port)).rejects.toThrow('ECONNREFUSED');
});

test('a sender that pipelines 32 posts and reads the responses gets them all', async () => {
  const receiver = await openReceiver();
  const socket = await openSocket(receiver.port);
  const posts = Array.from({ length: 32 }, (_, nonce) => requestBytes(signedPost(payloadOf({ nonce }))));
  const answers = readUntilClosed(socket);
  socket.write(Buffer.concat(posts));
  await expect.poll(() => receiver.answers.length).toBe(32);
  socket.end();
  expect((await answers).match(/HTTP\/1\.1 202 /g)).toHaveLength(32);
});

test('T18 a client that reads nothing of its response is disconnected, one that reads is not', async () => {
  const cut: string[] = [];
  const app = express().use((request, response) => {
    request.socket.once('close', () => cut.push(request.path));
    response.end(Buffer.alloc(request.path === '/much' ? 16 * 1024 * 1024 : 100));
  });
  const listening = await listen(app, { ...ANY_PORT, responseReadTimeoutMs: 250, shutdownGraceMs: 0 });
  onTestFinished(() => listening.close());
  const patient = openConnection(listening.port);
  const little = Buffer.from('GET /little HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(await patient.send(little)).toBe(200);
  const greedy = await openSocket(listening.port);
  greedy.on('error', () => undefined);
  greedy.pause().write('GET /much HTTP/1.1\r\nhost: x\r\n\r\n');
  await expect.poll(() => cut).toEqual(['/much']);
  expect(await patient.send(little)).toBe(200);
  patient.close();
});

test('T18 a new connection to a full server closes the one that read no response for longest', async () => {
  const receiver = await openReceiver({ maxConnections: 10 });
  const busy = openConnection(receiver.port);
  const post = (nonce: number) => requestBytes(signedPost(payloadOf({ nonce })));
  expect(await busy.send(post(0))).toBe(202);
  let cut = 0;
  for (let n = 0; n < 50; n += 1) {
    const idle = await openSocket(receiver.port);
    void readUntilClosed(idle).then(() => (cut += 1));
    expect(await busy.send(post(n + 1))).toBe(202);
  }
  const newcomer = openConnection(receiver.port);
  expect(await newcomer.send(post(100))).toBe(202);
  await expect.poll(() => cut).toBe(42);
  newcomer.close();
  busy.close();
});
