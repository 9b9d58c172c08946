import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createConnections } from '../../src/webhook/connections.js';

const LIMITS = { maxConnections: 2, takeWithinMs: 250, maxOutstanding: 2 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
});

/** Connections in a world without a network: what was written and what waits is said, and who is cut is noted by name. */
function open(limits: Partial<typeof LIMITS> = {}) {
  const connections = createConnections({ ...LIMITS, ...limits });
  const cut: string[] = [];
  connections.start();
  function add(name: string, parser?: unknown) {
    const socket = Object.assign(new Socket(), { parser });
    const bytes = { bytesWritten: 0, writableLength: 0 };
    for (const of of ['bytesWritten', 'writableLength'] as const)
      Object.defineProperty(socket, of, { get: () => bytes[of] });
    socket.resetAndDestroy = () => {
      cut.push(name);
      return socket;
    };
    connections.add(socket);
    const response = () =>
      Object.assign(new ServerResponse(new IncomingMessage(socket)), { shouldKeepAlive: true });
    const admit = (of = response()) => connections.admit(socket, of) && of;
    return { socket, bytes, response, admit };
  }
  return { add, cut };
}

test('T18 who takes nothing of its answers for a while is cut, however much more is written for it', () => {
  const { add, cut } = open({ maxConnections: 9 });
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
  expect(cut).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(cut).toEqual(['greedy']);
});

test('T18 who has taken one of its answers is given as long again', () => {
  const { add, cut } = open();
  const { bytes, admit } = add('busy');
  bytes.writableLength = 100;
  const answer = admit();
  vi.advanceTimersByTime(250);
  if (answer) answer.emit('finish');
  vi.advanceTimersByTime(250);
  expect(cut).toEqual([]);
  vi.advanceTimersByTime(50);
  expect(cut).toEqual(['busy']);
});

test('T18 who has no more answers under way than allowed is admitted, who asks for more is cut and heard no more', () => {
  const { add, cut } = open();
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
  expect(cut).toEqual(['asks']);
  expect(parser.onIncoming()).toBe(2);
  if (first) first.emit('finish');
});

test('T18 the one that took no answer for longest makes room, where none has left by itself', () => {
  const { add, cut } = open();
  const first = add('first', null);
  const second = add('second');
  const answer = first.admit();
  if (answer) answer.emit('finish');
  const third = add('third');
  expect(cut).toEqual(['second']);
  expect(second.admit()).toBe(false);
  third.socket.emit('close');
  add('fourth');
  expect(cut).toEqual(['second']);
  add('fifth');
  expect(cut).toEqual(['second', 'first']);
});

test('T18 who closes after its answer is not heard any more, and is not there to make room', () => {
  const { add, cut } = open();
  const parser = { onIncoming: () => 0 };
  const { response, admit } = add('closes', parser);
  const last = Object.assign(response(), { shouldKeepAlive: false });
  admit(last);
  last.emit('finish');
  expect(parser.onIncoming()).toBe(2);
  add('second');
  add('third');
  expect(cut).toEqual([]);
});
