import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createConnectionLimiter } from '../../src/webhook/connection-limiter.js';

const LIMITS = { maxConnections: 2, responseReadTimeoutMs: 250, maxPipelinedRequests: 2 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
});

/** Creates connections on sockets without a network. Tests set the bytes written and unread; resets are recorded by name. */
function createLimiterWithSockets(limits: Partial<typeof LIMITS> = {}) {
  const connections = createConnectionLimiter({ ...LIMITS, ...limits });
  const resets: string[] = [];
  connections.start();
  function add(name: string, parser?: unknown) {
    const socket = Object.assign(new Socket(), { parser });
    const bytes = { bytesWritten: 0, writableLength: 0 };
    for (const property of ['bytesWritten', 'writableLength'] as const)
      Object.defineProperty(socket, property, { get: () => bytes[property] });
    socket.resetAndDestroy = () => {
      resets.push(name);
      return socket;
    };
    connections.add(socket);
    const createResponse = () =>
      Object.assign(new ServerResponse(new IncomingMessage(socket)), { shouldKeepAlive: true });
    const admit = (response = createResponse()) => connections.admit(socket, response) && response;
    return { socket, bytes, createResponse, admit };
  }
  return { add, resets };
}

test('T18 a client that reads no response for the timeout is disconnected, however much more is written to it', () => {
  const { add, resets } = createLimiterWithSockets({ maxConnections: 9 });
  const [greedy, slow] = [add('greedy'), add('slow')];
  add('idle');
  Object.assign(greedy.bytes, { bytesWritten: 200, writableLength: 100 });
  Object.assign(slow.bytes, { bytesWritten: 200, writableLength: 100 });
  for (let ms = 1; ms < 350; ms += 1) {
    vi.advanceTimersByTime(1);
    slow.bytes.bytesWritten += 1;
    greedy.bytes.bytesWritten += 1;
    greedy.bytes.writableLength += 1;
  }
  expect(resets).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(resets).toEqual(['greedy']);
});

test('T18 reading one response restarts the timeout of a client', () => {
  const { add, resets } = createLimiterWithSockets();
  const { bytes, admit } = add('busy');
  bytes.writableLength = 100;
  const answer = admit();
  vi.advanceTimersByTime(250);
  if (answer) answer.emit('finish');
  vi.advanceTimersByTime(250);
  expect(resets).toEqual([]);
  vi.advanceTimersByTime(50);
  expect(resets).toEqual(['busy']);
});

test('T18 a client may pipeline as many requests as allowed; one more disconnects it and stops parsing its bytes', () => {
  const { add, resets } = createLimiterWithSockets();
  const parser = { onIncoming: () => 0 };
  const { admit } = add('asks', parser);
  for (let asked = 0; asked < 5; asked += 1) {
    const answer = admit();
    if (answer) answer.emit('finish');
  }
  const [first, second] = [admit(), admit()];
  expect([first, second].every(Boolean)).toBe(true);
  expect(parser.onIncoming()).toBe(0);
  expect([admit(), admit()]).toEqual([false, false]);
  expect(resets).toEqual(['asks']);
  expect(parser.onIncoming()).toBe(2);
  if (first) first.emit('finish');
});

test('T18 a full server disconnects the client that read no response for longest, unless another one has left', () => {
  const { add, resets } = createLimiterWithSockets();
  const first = add('first', null);
  const second = add('second');
  const answer = first.admit();
  if (answer) answer.emit('finish');
  const third = add('third');
  expect(resets).toEqual(['second']);
  expect(second.admit()).toBe(false);
  third.socket.emit('close');
  add('fourth');
  expect(resets).toEqual(['second']);
  add('fifth');
  expect(resets).toEqual(['second', 'first']);
});

test('T18 a connection that closes after its response is not parsed further and does not count towards the limit', () => {
  const { add, resets } = createLimiterWithSockets();
  const parser = { onIncoming: () => 0 };
  const { createResponse, admit } = add('closes', parser);
  const last = Object.assign(createResponse(), { shouldKeepAlive: false });
  admit(last);
  last.emit('finish');
  expect(parser.onIncoming()).toBe(2);
  add('second');
  add('third');
  expect(resets).toEqual([]);
});
