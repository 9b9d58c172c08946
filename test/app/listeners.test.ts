import { connect } from 'node:net';
import type { RequestListener } from 'node:http';
import express from 'express';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMetrics } from '../../src/app/operations/metrics.js';
import { createOperationsApp } from '../../src/app/operations/operations.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { type HttpListener, listenForPeople } from '../../src/webhook/http-listener.js';
import { openConsoleStage } from '../support/console.js';
import { openReceiver } from '../support/receiver.js';
import { temporaryFolder } from '../support/folder.js';
import { pipelineUntilClosed } from '../support/pipelining.js';
import { openSocket, readUntilClosed, sendAndReadAll } from '../support/wire.js';

const SENDERS = 20;
/** How many requests of one connection a listener handles at most before it closes the connection. */
const MAX_HANDLED = 32;
const NEWCOMERS = 400;

interface StartedListener {
  readonly port: number;
  /** Returns how many requests were handled. The console has none: the last test checks that its guard answers once. */
  readonly countHandled?: () => number;
}

/** Returns a function that listens as the program does, and counts the requests that reach the app. */
function createCountingListen(counter: {
  requests: number;
}): (app: RequestListener, address: Address) => Promise<HttpListener> {
  return (app, address) => {
    const around = express().use((_request, _response, next) => {
      counter.requests += 1;
      next();
    });
    return listenForPeople(around.use(app), address);
  };
}

interface Address {
  readonly host: string;
  readonly port: number;
}

const LOOPBACK = { host: '127.0.0.1', port: 0 };

const LISTENERS: Readonly<Record<string, () => Promise<StartedListener>>> = {
  receiver: async () => {
    const receiver = await openReceiver();
    return { port: receiver.port, countHandled: () => receiver.answers.length };
  },
  operations: async () => {
    const counter = { requests: 0 };
    const metrics = createMetrics([]);
    const app = createOperationsApp({ live: {}, ready: {}, metrics, isOnLoopback: () => true });
    const listening = await createCountingListen(counter)(app, LOOPBACK);
    onTestFinished(() => listening.close());
    return { port: listening.port, countHandled: () => counter.requests };
  },
  console: async () => {
    const { port } = await openConsoleStage();
    return { port };
  },
  sandbox: async () => {
    const counter = { requests: 0 };
    const folder = temporaryFolder();
    const sandbox = await startSandbox({ port: 0, folder, listen: createCountingListen(counter) });
    onTestFinished(() => sandbox.close());
    return { port: sandbox.port, countHandled: () => counter.requests };
  },
};

const PATHS: Readonly<Record<string, string>> = {
  receiver: '/webhooks',
  operations: '/metrics',
  console: '/retirements',
  sandbox: '/_sandbox/status',
};

describe.each(Object.entries(LISTENERS))('T87 the %s', (name, open) => {
  const request = `GET ${PATHS[name]} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;
  const sendOnce = (port: number) =>
    sendAndReadAll(port, request.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'));

  test('disconnects clients that send requests and never read, and answers those that read', async () => {
    const { port, countHandled } = await open();
    const cut = Promise.all(Array.from({ length: SENDERS }, () => pipelineUntilClosed(port, request)));
    expect(await sendOnce(port)).toMatch(/^HTTP\/1\.1 [245]\d\d /);
    await cut;
    expect(countHandled?.() ?? 0).toBeLessThanOrEqual(SENDERS * MAX_HANDLED + 1);
  });

  test('accepts new connections although many idle ones are open', async () => {
    const { port } = await open();
    const idle = Array.from({ length: NEWCOMERS }, () =>
      connect(port, '127.0.0.1').on('error', () => undefined),
    );
    onTestFinished(() => {
      for (const socket of idle) socket.destroy();
    });
    expect(await sendOnce(port)).toMatch(/^HTTP\/1\.1 [245]\d\d /);
  });
});

test('T87 an unauthenticated connection to the console is closed after one response', async () => {
  const { port } = await openConsoleStage();
  const socket = await openSocket(port);
  const answers = readUntilClosed(socket);
  socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'.repeat(3));
  expect((await answers).match(/HTTP\/1\.1 401 /g)).toHaveLength(1);
});
