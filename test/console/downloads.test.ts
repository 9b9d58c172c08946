import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createReaders } from '../../src/console/readers.js';
import { openReader } from '../../src/store/sqlite/reader.js';
import { type ConsoleStage, consoleStage } from '../support/console-stage.js';
import { retirements } from '../support/mirror.js';
import { openSocket } from '../support/wire.js';

/** More connections than there are readers. */
const CONNECTIONS = 6;
/** More than an answer that waits for another one may buffer. */
const ROWS = 200;

const requestOf = (path: string, { cookie }: ConsoleStage, version = '1.1'): string =>
  `GET ${path} HTTP/${version}\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`;

/** Connections whose visitor sends the requests and reads no answer. */
async function openUnread(stage: ConsoleStage, paths: readonly string[]): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => openSocket(stage.port)));
  for (const socket of sockets) {
    socket.on('error', () => undefined).pause();
    socket.write(paths.map(path => requestOf(path, stage)).join(''));
    onTestFinished(() => void socket.destroy());
  }
  return sockets;
}

test.each(['stay open', 'close'])(
  'T87 downloads pipelined behind a page that follows leave the readers to others while their connections %s',
  async end => {
    const stage = await consoleStage();
    await stage.scene.read('retirements', retirements(ROWS));
    const sockets = await openUnread(stage, ['/live', '/retirements.json']);
    await Promise.all(sockets.map(socket => new Promise(resolve => socket.once('readable', resolve))));
    if (end === 'close') for (const socket of sockets) socket.destroy();
    for (let asked = 0; asked < CONNECTIONS; asked += 1) expect((await stage.open('/')).status).toBe(200);
  },
);
