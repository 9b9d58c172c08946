import express, { type RequestHandler } from 'express';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/webhook/listen.js';
import { openReceiver, requestBytes, signedPost } from '../support/receiver.js';
import { openConnection } from '../support/load.js';
import { openSocket, readAll } from '../support/wire.js';

const QUICK = { headersTimeoutMs: 200, requestTimeoutMs: 400, checkIntervalMs: 20 };

test('T14 slow headers are cut before a slow body, and both before a patient good post is harmed', async () => {
  const receiver = await openReceiver(QUICK);
  const ended: string[] = [];
  const slowHeaders = await openSocket(receiver.port);
  const slowBody = await openSocket(receiver.port);
  slowHeaders.write('POST /webhooks HTTP/1.1\r\nhost: x\r\nx-slow: ');
  slowBody.write('POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"sig');
  const answers = await Promise.all([
    readAll(slowHeaders).finally(() => ended.push('headers')),
    readAll(slowBody).finally(() => ended.push('body')),
  ]);
  expect(ended).toEqual(['headers', 'body']);
  for (const answer of answers) {
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\ncontent-type: application\/problem\+json\r\n/);
  }
  const good = signedPost();
  expect((await receiver.post(good.body, good.headers)).status).toBe(202);
});

test('T14 a body that drips byte by byte is cut as well', async () => {
  const receiver = await openReceiver(QUICK);
  const socket = await openSocket(receiver.port);
  socket.write('POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 60000\r\n\r\n');
  const drip = setInterval(() => socket.write('x'), 10);
  expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 408 /);
  clearInterval(drip);
  expect(receiver.stored()).toBe(0);
});

test('T14 200 idle sockets delay nobody, and are cut', async () => {
  const receiver = await openReceiver({ ...QUICK, headersTimeoutMs: 2000, requestTimeoutMs: 3000 });
  let cut = 0;
  const idle = await Promise.all(Array.from({ length: 200 }, () => openSocket(receiver.port)));
  const closed = Promise.all(
    idle.map(async socket => {
      await readAll(socket);
      cut += 1;
    }),
  );
  const good = signedPost();
  expect((await receiver.post(good.body, good.headers)).status).toBe(202);
  expect(cut).toBe(0);
  await closed;
  expect(cut).toBe(200);
});

test('T14 the limits are 10 s for headers and 15 s for a request unless a test says otherwise', async () => {
  const { DEFAULT_LIMITS } = await import('../../src/webhook/listen.js');
  expect(DEFAULT_LIMITS).toMatchObject({ headersTimeoutMs: 10_000, requestTimeoutMs: 15_000 });
  expect(DEFAULT_LIMITS.checkIntervalMs).toBeLessThanOrEqual(1000);
});

test('requests and responses are made as those of the app, so that Express need not turn them into such', async () => {
  const born: boolean[] = [];
  const app = express().use((request, response) => {
    for (const [message, own] of [
      [request, app.request],
      [response, app.response],
    ] as const) {
      born.push(message.constructor.prototype === own, Object.getPrototypeOf(message) === own);
    }
    response.sendStatus(202);
  });
  const listening = await listen(app, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => listening.close());
  expect((await fetch(`http://127.0.0.1:${listening.port}/`)).status).toBe(202);
  expect(born).toEqual([true, true, true, true]);
});

test('a sender that closes its half after its post is answered all the same, however long the flush takes', async () => {
  const answerLate: RequestHandler = (request, response) => {
    request.resume();
    setTimeout(() => response.writeHead(202).end(), 50);
  };
  const listening = await listen(express().use(answerLate), { host: '127.0.0.1', port: 0 });
  onTestFinished(() => listening.close());
  const socket = await openSocket(listening.port);
  socket.end(requestBytes(signedPost()));
  expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 202 /);
});

test('a sender that closes its half too early is not answered 202', async () => {
  const receiver = await openReceiver();
  const good = signedPost();
  const socket = await openSocket(receiver.port);
  socket.end(requestBytes(good).subarray(0, -5));
  expect(await readAll(socket)).not.toMatch(/ 202 /);
  expect(receiver.stored()).toBe(0);
});

test('closing answers what is under way, cuts idle sockets and takes no more', async () => {
  const receiver = await openReceiver();
  const idle = await openSocket(receiver.port);
  const cut = readAll(idle);
  const connection = openConnection(receiver.port);
  expect(await connection.send(requestBytes(signedPost()))).toBe(202);
  const underWay = connection.send(requestBytes(signedPost()));
  await new Promise(setImmediate);
  await receiver.listening.close();
  expect([202, 0]).toContain(await underWay);
  expect(await cut).toBe('');
  expect(receiver.stored()).toBe(receiver.answers.filter(answer => answer.status === 202).length);
  await expect(openSocket(receiver.port)).rejects.toThrow('ECONNREFUSED');
});
