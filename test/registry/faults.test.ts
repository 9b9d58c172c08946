import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { HttpRequest, HttpOptions } from '../../src/registry/http/http-types.js';
import { RegistryError } from '../../src/registry/errors.js';
import { createHttpClient } from '../../src/registry/http/http-client.js';
import { listenRaw, rawAnswer, until } from '../support/raw-server.js';

const secret = `crs_${'ab12'.repeat(12)}`;
const token = { get: async () => ({ token: secret, fresh: true }), refuse: () => undefined };
const call: HttpRequest = { method: 'GET', route: '/things', token };
const noon = Date.parse('2026-06-01T12:00:00.000Z');

function httpTo(baseUrl: string, options: Partial<HttpOptions> = {}) {
  return createHttpClient({
    baseUrl,
    now: () => noon,
    random: () => 0,
    sleep: async () => undefined,
    attempts: 1,
    requestsPerSecond: Infinity,
    ...options,
  });
}

async function failure(action: Promise<unknown>): Promise<RegistryError> {
  try {
    await action;
  } catch (error) {
    if (error instanceof RegistryError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

async function drain(chunks: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunks) bytes += chunk.length;
  return bytes;
}

describe('T33 an answer that does not end well', () => {
  const short = { deadlineMs: 200 };

  it('is given up when nothing comes, and the connection is closed', async () => {
    const server = await listenRaw(() => undefined);
    const error = await failure(httpTo(server.url, short).send(call));
    expect(error).toMatchObject({ code: 'timeout', mayHaveHappened: true });
    await until(() => server.closed() >= 1);
  });

  for (const head of [
    'HTTP/1.1 200 X\r\n',
    'HTTP/1.1 200 X\r\ncontent-length: 9999\r\n\r\n',
    'HTTP/1.1 500 X\r\ncontent-length: 9999\r\n\r\n',
  ]) {
    it(`is given up when it drips after ${JSON.stringify(head)}`, async () => {
      const server = await listenRaw(socket => {
        socket.write(head);
        const drip = setInterval(() => socket.write(head.endsWith('\r\n\r\n') ? 'x' : 'x-a: b\r\n'), 20);
        socket.on('close', () => clearInterval(drip));
      });
      expect((await failure(httpTo(server.url, short).send(call))).code).toBe('timeout');
      await until(() => server.closed() >= 1);
    });
  }

  it('is given up as a stream too, although no pause is long', async () => {
    const server = await listenRaw(socket => {
      socket.write('HTTP/1.1 200 X\r\ncontent-length: 9999\r\n\r\n');
      const drip = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    const patient = { deadlineMs: 10_000, streamDeadlineMs: 500 };
    const { body } = await httpTo(server.url, patient).stream(call);
    expect((await failure(drain(body))).code).toBe('timeout');
    await until(() => server.closed() >= 1);
  });

  for (const [name, bytes] of [
    ['a body shorter than its length', 'HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nabc'],
    ['a chunked body without its end', 'HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ['no answer at all', ''],
    ['what is not HTTP', 'hello\r\n\r\n'],
    ['headers without end', `HTTP/1.1 200 X\r\nx-a: ${'b'.repeat(200_000)}\r\n\r\n`],
    ['a broken encoding', 'HTTP/1.1 200 X\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc'],
  ] as const) {
    it(`is no answer: ${name}`, async () => {
      const server = await listenRaw(socket => socket.end(bytes));
      const error = await failure(httpTo(server.url).send(call));
      expect(error).toMatchObject({ code: 'unavailable', mayHaveHappened: true });
    });
  }

  it('is cut at the cap when it never ends', async () => {
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const server = await listenRaw(socket => {
      const pour = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.write('HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n');
      socket.on('drain', pour);
      pour();
    });
    const http = httpTo(server.url, { maxBytes: 1_000_000, maxStreamBytes: 2_000_000 });
    expect((await failure(http.send(call))).code).toBe('too_large');
    expect((await failure(drain((await http.stream(call)).body))).code).toBe('too_large');
    await until(() => server.requests.length === 2 && server.held() === 0);
  });

  it('is cut at the cap after it was unpacked', async () => {
    const packed = gzipSync(Buffer.alloc(50_000_000));
    const server = await listenRaw(socket => {
      socket.write(rawAnswer(200, packed, ['content-encoding: gzip']));
    });
    expect((await failure(httpTo(server.url, { maxBytes: 1_000_000 }).send(call))).code).toBe('too_large');
  });
});

describe('a caller who goes away', () => {
  it('closes the connection, wherever the call was', async () => {
    const server = await listenRaw((socket, count) => {
      if (count > 1) socket.write('HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nabc');
    });
    const http = httpTo(server.url);
    const waiting = new AbortController();
    const first = failure(http.send({ ...call, signal: waiting.signal }));
    await until(() => server.requests.length === 1);
    waiting.abort();
    expect((await first).code).toBe('cancelled');
    const reading = new AbortController();
    const { body } = await http.stream({ ...call, signal: reading.signal });
    const second = failure(drain(body));
    reading.abort();
    expect((await second).code).toBe('cancelled');
    await until(() => server.requests.length === 2 && server.held() === 0);
  });

  it('has sent nothing when it was gone before', async () => {
    const server = await listenRaw(() => undefined);
    const error = await failure(httpTo(server.url).send({ ...call, signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: 'cancelled', mayHaveHappened: false });
    expect(server.connections()).toBe(0);
  });

  it('has sent nothing when it went in the very turn in which its place came free', async () => {
    const server = await listenRaw(socket => socket.write(rawAnswer(200, '{}')));
    const gone = new AbortController();
    const http = httpTo(server.url, { concurrency: 1, onCall: () => gone.abort() });
    const first = http.send(call);
    const second = failure(http.send({ ...call, signal: gone.signal }));
    await first;
    expect(await second).toMatchObject({ code: 'cancelled', mayHaveHappened: false });
    await httpTo(server.url).send(call);
    expect(server.requests).toHaveLength(2);
  });

  it('gives its place back when it leaves a stream, cancels it, or never walks it', async () => {
    const server = await listenRaw(socket => {
      socket.write('HTTP/1.1 200 X\r\ncontent-length: 99999999\r\n\r\n');
      socket.write(Buffer.alloc(100_000));
    });
    const http = httpTo(server.url, { concurrency: 1, streamDeadlineMs: 1500 });
    const left = await http.stream(call);
    for await (const chunk of left.body) if (chunk.length > 0) break;
    const cancelled = await http.stream(call);
    await cancelled.cancel();
    await http.stream(call);
    const last = await http.stream(call);
    await last.cancel();
    await until(() => server.requests.length === 4 && server.held() === 0);
  });
});

describe('T41 what a refusal asks for', () => {
  it('is a wait, and never no wait at all', async () => {
    const slept: number[] = [];
    const waits = ['0', '2', 'Mon, 01 Jun 2026 11:00:00 GMT', 'soon', '-1'];
    const server = await listenRaw((socket, count) => {
      socket.write(rawAnswer(503, '', [`retry-after: ${waits[count - 1]}`]));
    });
    const http = httpTo(server.url, {
      attempts: waits.length + 1,
      sleep: async ms => {
        slept.push(ms);
      },
    });
    await failure(http.send(call));
    expect(slept).toEqual([125, 2000, 500, 1000, 2000]);
  });
});

describe('what the other side says', () => {
  for (const date of [
    '5',
    '1970',
    'Mon, 01 Jun 2026 12:00:00',
    '2026-06-01T13:00:00Z',
    'junk',
    '9'.repeat(300),
  ]) {
    it(`T42 is no time when its Date header is '${date.slice(0, 30)}'`, async () => {
      const server = await listenRaw(socket => socket.write(rawAnswer(200, '{}', [`date: ${date}`])));
      const http = httpTo(server.url);
      await http.send(call);
      expect(http.clockSkewMs()).toBeNull();
    });
  }

  it('T42 is the time when it is an HTTP date', async () => {
    const date = 'date: Mon, 01 Jun 2026 13:00:00 GMT';
    const server = await listenRaw(socket => socket.write(rawAnswer(200, '{}', [date])));
    const http = httpTo(server.url);
    await http.send(call);
    expect(http.clockSkewMs()).toBe(3_600_000);
  });

  it('T42 is no time when a cache on the way stored it', async () => {
    const headers = ['date: Mon, 01 Jun 2026 11:00:00 GMT', 'age: 3600'];
    const server = await listenRaw(socket => socket.write(rawAnswer(200, '{}', headers)));
    const http = httpTo(server.url);
    await http.send(call);
    expect(http.clockSkewMs()).toBeNull();
  });

  it('T69 is repeated without credentials, and without what a terminal would obey', async () => {
    const message = `no ${secret} Bearer ${secret} eyJh.eyJp.c2ln \u001b[31mred\r\nline\u202e`;
    const body = JSON.stringify({ statusCode: 400, message });
    const server = await listenRaw(socket => socket.write(rawAnswer(400, body)));
    const error = await failure(httpTo(server.url).send(call));
    expect(error.registryMessage).toBe('no [masked] Bearer [masked] [masked]  [31mred line ');
  });

  it('is read to its end when it refuses, so that connections are kept', async () => {
    const server = await listenRaw((socket, count) =>
      socket.write(rawAnswer(count % 2 === 0 ? 404 : 200, '{}')),
    );
    const http = httpTo(server.url);
    for (let round = 0; round < 20; round += 1) await http.send(call).catch(() => undefined);
    expect(server.connections()).toBeLessThan(4);
  });
});
