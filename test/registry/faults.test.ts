import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { HttpRequest, HttpOptions } from '../../src/registry/http/http-types.js';
import { RegistryError } from '../../src/registry/errors.js';
import { createHttpClient } from '../../src/registry/http/http-client.js';
import { startRawServer, formatRawResponse, waitUntil } from '../support/raw-server.js';

const secret = `crs_${'ab12'.repeat(12)}`;
const token = { get: async () => ({ token: secret, fresh: true }), discard: () => undefined };
const call: HttpRequest = { method: 'GET', route: '/things', token };
const write: HttpRequest = { ...call, method: 'POST', body: '{}' };
const noon = Date.parse('2026-06-01T12:00:00.000Z');

function createClient(baseUrl: string, options: Partial<HttpOptions> = {}) {
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

/** Returns the error of a call that must fail. */
async function getFailure(failing: Promise<unknown>): Promise<RegistryError> {
  try {
    await failing;
  } catch (error) {
    if (error instanceof RegistryError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

async function countBytes(chunks: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunks) bytes += chunk.length;
  return bytes;
}

describe('T33 a request with a faulty answer', () => {
  const short = { deadlineMs: 200 };

  it('times out and closes the connection if nothing is sent', async () => {
    const server = await startRawServer(() => undefined);
    const error = await getFailure(createClient(server.url, short).send(write));
    expect(error).toMatchObject({ code: 'timeout', mayHaveHappened: true });
    await waitUntil(() => server.countClosed() >= 1);
  });

  for (const head of [
    'HTTP/1.1 200 X\r\n',
    'HTTP/1.1 200 X\r\ncontent-length: 9999\r\n\r\n',
    'HTTP/1.1 500 X\r\ncontent-length: 9999\r\n\r\n',
  ]) {
    it(`times out if bytes arrive slowly after ${JSON.stringify(head)}`, async () => {
      const server = await startRawServer(socket => {
        socket.write(head);
        const drip = setInterval(() => socket.write(head.endsWith('\r\n\r\n') ? 'x' : 'x-a: b\r\n'), 20);
        socket.on('close', () => clearInterval(drip));
      });
      expect((await getFailure(createClient(server.url, short).send(call))).code).toBe('timeout');
      await waitUntil(() => server.countClosed() >= 1);
    });
  }

  it('times out as a stream too, although no pause is long', async () => {
    const server = await startRawServer(socket => {
      socket.write('HTTP/1.1 200 X\r\ncontent-length: 9999\r\n\r\n');
      const drip = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    const patient = { deadlineMs: 10_000, streamDeadlineMs: 500 };
    const { body } = await createClient(server.url, patient).stream(call);
    expect((await getFailure(countBytes(body))).code).toBe('timeout');
    await waitUntil(() => server.countClosed() >= 1);
  });

  for (const [name, bytes] of [
    ['a body shorter than its length', 'HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nabc'],
    ['a chunked body without its end', 'HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ['no answer at all', ''],
    ['no HTTP', 'hello\r\n\r\n'],
    ['headers without end', `HTTP/1.1 200 X\r\nx-a: ${'b'.repeat(200_000)}\r\n\r\n`],
    ['a broken encoding', 'HTTP/1.1 200 X\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc'],
  ] as const) {
    it(`is unavailable if it is ${name}`, async () => {
      const server = await startRawServer(socket => socket.end(bytes));
      const error = await getFailure(createClient(server.url).send(write));
      expect(error).toMatchObject({ code: 'unavailable', mayHaveHappened: true });
    });
  }

  it.each([
    ['a read that times out', call, '', false],
    ['a read that is cut', call, 'HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nabc', false],
    ['a read that is answered 503', call, formatRawResponse(503, '{}'), false],
    ['a write that is answered 503', write, formatRawResponse(503, '{}'), true],
    ['a write that is answered 400', write, formatRawResponse(400, '{}'), false],
    ['a GET that writes and is cut', { ...call, repeatable: false }, 'HTTP/1.1 200 X\r\n', true],
  ])('mayHaveHappened of %s', async (_name, request, answer, mayHaveHappened) => {
    const server = await startRawServer(socket => {
      if (answer !== '') socket.end(answer);
    });
    const error = await getFailure(createClient(server.url, short).send(request));
    expect(error.mayHaveHappened).toBe(mayHaveHappened);
  });

  it('fails at the size limit if the answer never ends', async () => {
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const server = await startRawServer(socket => {
      const pour = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.write('HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n');
      socket.on('drain', pour);
      pour();
    });
    const http = createClient(server.url, { maxBytes: 1_000_000, maxStreamBytes: 2_000_000 });
    expect((await getFailure(http.send(call))).code).toBe('too_large');
    expect((await getFailure(countBytes((await http.stream(call)).body))).code).toBe('too_large');
    await waitUntil(() => server.requests.length === 2 && server.countActive() === 0);
  });

  it('fails at the size limit of the decompressed answer', async () => {
    const packed = gzipSync(Buffer.alloc(50_000_000));
    const server = await startRawServer(socket => {
      socket.write(formatRawResponse(200, packed, ['content-encoding: gzip']));
    });
    expect((await getFailure(createClient(server.url, { maxBytes: 1_000_000 }).send(call))).code).toBe(
      'too_large',
    );
  });
});

describe('a cancelled request', () => {
  it('closes its connection at any stage', async () => {
    const server = await startRawServer((socket, count) => {
      if (count > 1) socket.write('HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nabc');
    });
    const http = createClient(server.url);
    const waiting = new AbortController();
    const first = getFailure(http.send({ ...call, signal: waiting.signal }));
    await waitUntil(() => server.requests.length === 1);
    waiting.abort();
    expect((await first).code).toBe('cancelled');
    const reading = new AbortController();
    const { body } = await http.stream({ ...call, signal: reading.signal });
    const second = getFailure(countBytes(body));
    reading.abort();
    expect((await second).code).toBe('cancelled');
    await waitUntil(() => server.requests.length === 2 && server.countActive() === 0);
  });

  it('sends nothing if it was cancelled before its start', async () => {
    const server = await startRawServer(() => undefined);
    const error = await getFailure(createClient(server.url).send({ ...call, signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: 'cancelled', mayHaveHappened: false });
    expect(server.countConnections()).toBe(0);
  });

  it('sends nothing if it is cancelled at the moment its slot becomes free', async () => {
    const server = await startRawServer(socket => socket.write(formatRawResponse(200, '{}')));
    const gone = new AbortController();
    const http = createClient(server.url, { concurrency: 1, onCall: () => gone.abort() });
    const first = http.send(call);
    const second = getFailure(http.send({ ...call, signal: gone.signal }));
    await first;
    expect(await second).toMatchObject({ code: 'cancelled', mayHaveHappened: false });
    await createClient(server.url).send(call);
    expect(server.requests).toHaveLength(2);
  });

  it('releases its slot if its stream is left, cancelled or never read', async () => {
    const server = await startRawServer(socket => {
      socket.write('HTTP/1.1 200 X\r\ncontent-length: 99999999\r\n\r\n');
      socket.write(Buffer.alloc(100_000));
    });
    const http = createClient(server.url, { concurrency: 1, streamDeadlineMs: 1500 });
    const left = await http.stream(call);
    for await (const chunk of left.body) if (chunk.length > 0) break;
    const cancelled = await http.stream(call);
    await cancelled.cancel();
    await http.stream(call);
    const last = await http.stream(call);
    await last.cancel();
    await waitUntil(() => server.requests.length === 4 && server.countActive() === 0);
  });
});

describe('T41 the wait that an error response asks for', () => {
  it('is observed, and is never zero', async () => {
    const slept: number[] = [];
    const waits = ['0', '2', 'Mon, 01 Jun 2026 11:00:00 GMT', 'soon', '-1'];
    const server = await startRawServer((socket, count) => {
      socket.write(formatRawResponse(503, '', [`retry-after: ${waits[count - 1]}`]));
    });
    const http = createClient(server.url, {
      attempts: waits.length + 1,
      sleep: async ms => {
        slept.push(ms);
      },
    });
    await getFailure(http.send(call));
    expect(slept).toEqual([125, 2000, 500, 1000, 2000]);
  });
});

describe('an answer', () => {
  for (const date of [
    '5',
    '1970',
    'Mon, 01 Jun 2026 12:00:00',
    '2026-06-01T13:00:00Z',
    'junk',
    '9'.repeat(300),
  ]) {
    it(`T42 does not set the clock with the Date header '${date.slice(0, 30)}'`, async () => {
      const server = await startRawServer(socket =>
        socket.write(formatRawResponse(200, '{}', [`date: ${date}`])),
      );
      const http = createClient(server.url);
      await http.send(call);
      expect(http.clockSkewMs()).toBeNull();
    });
  }

  it('T42 sets the clock with an HTTP date', async () => {
    const date = 'date: Mon, 01 Jun 2026 13:00:00 GMT';
    const server = await startRawServer(socket => socket.write(formatRawResponse(200, '{}', [date])));
    const http = createClient(server.url);
    await http.send(call);
    expect(http.clockSkewMs()).toBe(3_600_000);
  });

  it('T42 does not set the clock if it comes from a cache', async () => {
    const headers = ['date: Mon, 01 Jun 2026 11:00:00 GMT', 'age: 3600'];
    const server = await startRawServer(socket => socket.write(formatRawResponse(200, '{}', headers)));
    const http = createClient(server.url);
    await http.send(call);
    expect(http.clockSkewMs()).toBeNull();
  });

  it('T69 is quoted in an error without credentials and control characters', async () => {
    const message = `no ${secret} Bearer ${secret} eyJh.eyJp.c2ln \u001b[31mred\r\nline\u202e`;
    const body = JSON.stringify({ statusCode: 400, message });
    const server = await startRawServer(socket => socket.write(formatRawResponse(400, body)));
    const error = await getFailure(createClient(server.url).send(call));
    expect(error.registryMessage).toBe('no [masked] Bearer [masked] [masked]  [31mred line ');
  });

  it('is read to its end even if it is an error, so that the connection is reused', async () => {
    const server = await startRawServer((socket, count) =>
      socket.write(formatRawResponse(count % 2 === 0 ? 404 : 200, '{}')),
    );
    const http = createClient(server.url);
    for (let round = 0; round < 20; round += 1) await http.send(call).catch(() => undefined);
    expect(server.countConnections()).toBeLessThan(4);
  });
});
