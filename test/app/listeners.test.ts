import { connect } from 'node:net';
import type { RequestListener } from 'node:http';
import express from 'express';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMetrics } from '../../src/app/operations/metrics.js';
import { createOperationsApp } from '../../src/app/operations/operations.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { type HttpListener, listenForPeople } from '../../src/webhook/listen.js';
import { consoleStage } from '../support/console.js';
import { openReceiver } from '../support/receiver.js';
import { temporaryFolder } from '../support/folder.js';
import { pipeline } from '../support/pipelining.js';
import { openSocket, readUntilClosed, sendAndReadAll } from '../support/wire.js';

const SENDERS = 20;
/** Nobody has more than this looked at before the connection is cut, at whichever listener. */
const LOOKED_AT = 32;
const NEWCOMERS = 400;

interface Asked {
  readonly port: number;
  /** Requests that were looked at; the console's guard looks at none twice, as is held below. */
  readonly count?: () => number;
}

/** Counts what reaches the app, and listens as the program does. */
function countedBy(counted: {
  asked: number;
}): (app: RequestListener, address: Address) => Promise<HttpListener> {
  return (app, address) => {
    const around = express().use((_request, _response, next) => {
      counted.asked += 1;
      next();
    });
    return listenForPeople(around.use(app), address);
  };
}

interface Address {
  readonly host: string;
  readonly port: number;
}

const HERE = { host: '127.0.0.1', port: 0 };

const LISTENERS: Readonly<Record<string, () => Promise<Asked>>> = {
  receiver: async () => {
    const receiver = await openReceiver();
    return { port: receiver.port, count: () => receiver.answers.length };
  },
  operations: async () => {
    const counted = { asked: 0 };
    const metrics = createMetrics([]);
    const app = createOperationsApp({ live: {}, ready: {}, metrics, isOnLoopback: () => true });
    const listening = await countedBy(counted)(app, HERE);
    onTestFinished(() => listening.close());
    return { port: listening.port, count: () => counted.asked };
  },
  console: async () => {
    const { port } = await consoleStage();
    return { port };
  },
  sandbox: async () => {
    const counted = { asked: 0 };
    const folder = temporaryFolder();
    const sandbox = await startSandbox({ port: 0, folder, listen: countedBy(counted) });
    onTestFinished(() => sandbox.close());
    return { port: sandbox.port, count: () => counted.asked };
  },
};

const QUESTIONS: Readonly<Record<string, string>> = {
  receiver: '/webhooks',
  operations: '/metrics',
  console: '/retirements',
  sandbox: '/_sandbox/status',
};

describe.each(Object.entries(LISTENERS))('T87 at the %s', (name, open) => {
  const question = `GET ${QUESTIONS[name]} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;
  const once = (port: number) =>
    sendAndReadAll(port, question.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'));

  test('who asks and asks and reads nothing is cut, and whoever reads is answered', async () => {
    const { port, count } = await open();
    const cut = Promise.all(Array.from({ length: SENDERS }, () => pipeline(port, question)));
    expect(await once(port)).toMatch(/^HTTP\/1\.1 [245]\d\d /);
    await cut;
    expect(count?.() ?? 0).toBeLessThanOrEqual(SENDERS * LOOKED_AT + 1);
  });

  test('connections that ask nothing refuse no newcomer', async () => {
    const { port } = await open();
    const idle = Array.from({ length: NEWCOMERS }, () =>
      connect(port, '127.0.0.1').on('error', () => undefined),
    );
    onTestFinished(() => {
      for (const socket of idle) socket.destroy();
    });
    expect(await once(port)).toMatch(/^HTTP\/1\.1 [245]\d\d /);
  });
});

test('T87 who is not let into the console gets one answer and no second one', async () => {
  const { port } = await consoleStage();
  const socket = await openSocket(port);
  const answers = readUntilClosed(socket);
  socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'.repeat(3));
  expect((await answers).match(/HTTP\/1\.1 401 /g)).toHaveLength(1);
});
