import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/webhook/listen.js';
import { openReceiver, payloadOf, requestBytes, signedPost } from '../support/receiver.js';
import { openConnection } from '../support/load.js';
import { pipeline, QUESTIONS } from '../support/pipelining.js';
import { openSocket, readAll } from '../support/wire.js';
import { atLength } from '../support/long.js';

const SENDERS = 20;

describe('senders that pipeline and never read', () => {
  type Listen = (app: Express) => Promise<number>;

  async function listenHere(app: Express): Promise<number> {
    const listening = await listen(app, { host: '127.0.0.1', port: 0, graceMs: 0 });
    onTestFinished(() => listening.close());
    return listening.port;
  }

  /** Every one of them is cut within some seconds, and none has more than 32 requests looked at. */
  async function keepsTheLaw(open: Listen, withinMs: number): Promise<boolean> {
    let asked = 0;
    const app = express().use((_request, response) => {
      asked += 1;
      response.end('x'.repeat(1000));
    });
    const port = await open(app);
    const cut = Promise.all(
      Array.from({ length: SENDERS }, () => pipeline(port, QUESTIONS['the front page'])),
    );
    const late = new Promise(resolve => setTimeout(resolve, withinMs, 'late'));
    return (await Promise.race([cut, late])) !== 'late' && asked < SENDERS * 2000;
  }

  function bare(change: (server: ReturnType<typeof createServer>) => void): Listen {
    return async app => {
      const server = createServer(app);
      change(server);
      await new Promise<void>(resolve => {
        server.listen(0, '127.0.0.1', resolve);
      });
      onTestFinished(() => {
        server.closeAllConnections();
        server.close();
      });
      const address: AddressInfo | string | null = server.address();
      return typeof address === 'object' && address !== null ? address.port : 0;
    };
  }

  test('T18 are cut', async () => {
    expect(await keepsTheLaw(listenHere, 20_000)).toBe(true);
  });

  const OTHERS: readonly (readonly [string, Listen])[] = [
    ['a bare server', bare(() => undefined)],
    [
      "Node's own time limits",
      bare(server => Object.assign(server, { timeout: 1000, requestTimeout: 1000 })),
    ],
  ];

  test.each(OTHERS.slice(0, atLength(1, 2)))('T18 %s would serve them on and on', async (_title, open) => {
    expect(await keepsTheLaw(open, 4000)).toBe(false);
  });

  test.each(Object.entries(QUESTIONS))(
    'T18 that ask for %s keep no good post from its answer',
    async (_title, question) => {
      const receiver = await openReceiver();
      const cut = Promise.all(Array.from({ length: SENDERS }, () => pipeline(receiver.port, question)));
      const connection = openConnection(receiver.port);
      for (let nonce = 0; nonce < 20; nonce += 1) {
        expect(await connection.send(requestBytes(signedPost(payloadOf({ nonce }))))).toBe(202);
      }
      await cut;
      connection.close();
      expect(receiver.stored()).toBe(20);
    },
  );
});

test('a sender that pipelines 32 posts and reads its answers gets them all', async () => {
  const receiver = await openReceiver();
  const socket = await openSocket(receiver.port);
  const posts = Array.from({ length: 32 }, (_, nonce) => requestBytes(signedPost(payloadOf({ nonce }))));
  const answers = readAll(socket);
  socket.write(Buffer.concat(posts));
  await expect.poll(() => receiver.answers.length).toBe(32);
  socket.end();
  expect((await answers).match(/HTTP\/1\.1 202 /g)).toHaveLength(32);
});

test('T18 a sender that takes nothing of its answer for a while is cut, one that takes it is not', async () => {
  const cut: string[] = [];
  const app = express().use((request, response) => {
    request.socket.once('close', () => cut.push(request.path));
    response.end(Buffer.alloc(request.path === '/much' ? 16 * 1024 * 1024 : 100));
  });
  const listening = await listen(app, { host: '127.0.0.1', port: 0, takeWithinMs: 250, graceMs: 0 });
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

test('T18 where there are as many connections as there may be, the one that took no answer for longest makes room', async () => {
  const receiver = await openReceiver({ maxConnections: 10 });
  const busy = openConnection(receiver.port);
  const post = (nonce: number) => requestBytes(signedPost(payloadOf({ nonce })));
  expect(await busy.send(post(0))).toBe(202);
  let cut = 0;
  for (let n = 0; n < 50; n += 1) {
    const idle = await openSocket(receiver.port);
    void readAll(idle).then(() => (cut += 1));
    expect(await busy.send(post(n + 1))).toBe(202);
  }
  const newcomer = openConnection(receiver.port);
  expect(await newcomer.send(post(100))).toBe(202);
  await expect.poll(() => cut).toBe(42);
  newcomer.close();
  busy.close();
});
