import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { HttpOptions, HttpRequest } from '../../src/registry/http/http-types.js';
import { readBody } from '../../src/registry/http/receive-response.js';
import {
  collectBytes,
  createTestHttpClient,
  getFailure,
  startLoopbackServer,
} from '../support/registry-client.js';
import { formatRawResponse, startRawServer } from '../support/raw-server.js';
import { until } from '../support/wait.js';

const secret = `crs_${'ab12'.repeat(12)}`;
const token = { get: async () => ({ token: secret, fresh: true }), discard: () => undefined };
const call: HttpRequest = { method: 'GET', route: '/things', token };
const write: HttpRequest = { ...call, method: 'POST', body: '{}' };
const noon = Date.parse('2026-06-01T12:00:00.000Z');

/** Creates a client without retries that has one slot, so that a slot that is not released blocks the next request. */
function createClient(baseUrl: string, options: Partial<HttpOptions> = {}) {
  return createTestHttpClient(baseUrl, { now: () => noon, attempts: 1, concurrency: 1, ...options });
}

const OK_HEAD = 'HTTP/1.1 200 X\r\ncontent-length: 9999\r\n\r\n';
const CHUNKED_HEAD = 'HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n';
const CUT = 'HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nabc';

/** Sends a head and then a few bytes again and again. */
const drip = (head: string, bytes: string) => (socket: Socket) => {
  socket.write(head);
  const timer = setInterval(() => socket.write(bytes), 20);
  socket.on('close', () => clearInterval(timer));
};
const end = (bytes: string) => (socket: Socket) => void socket.end(bytes);
const pour = (head: string, chunk: string) => (socket: Socket) => {
  const writeUntilFull = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.write(head);
  socket.on('drain', writeUntilFull);
  writeUntilFull();
};

/** Short deadlines, used only for answers that never end. */
const SOON: Partial<HttpOptions> = { deadlineMs: 200, streamDeadlineMs: 500 };
const SMALL: Partial<HttpOptions> = { maxBytes: 1_000_000, maxStreamBytes: 1_000_000 };

/** A faulty server: its name, how it answers, and the error of a request. */
type Fault = readonly [
  string,
  (socket: Socket) => void,
  'timeout' | 'unavailable' | 'too_large',
  Partial<HttpOptions>?,
];

const SERVERS: readonly Fault[] = [
  ['silence', () => undefined, 'timeout', SOON],
  ['silence after the headers', socket => void socket.write(OK_HEAD), 'timeout', SOON],
  ['endless headers', drip('HTTP/1.1 200 X\r\n', 'x-a: b\r\n'), 'timeout', SOON],
  ['a body of single bytes', drip(OK_HEAD, 'x'), 'timeout', SOON],
  ['an error body of single bytes', drip(OK_HEAD.replace('200', '500'), 'x'), 'timeout', SOON],
  ['a body shorter than its length', end(CUT), 'unavailable'],
  ['a chunked body without its end', end(`${CHUNKED_HEAD}3\r\nabc\r\n`), 'unavailable'],
  ['no answer at all', end(''), 'unavailable'],
  ['no HTTP', end('hello\r\n\r\n'), 'unavailable'],
  ['headers that are too long', end(`HTTP/1.1 200 X\r\nx-a: ${'b'.repeat(200_000)}\r\n\r\n`), 'unavailable'],
  [
    'a broken encoding',
    end('HTTP/1.1 200 X\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc'),
    'unavailable',
  ],
  ['a body without end', pour(CHUNKED_HEAD, `10000\r\n${'x'.repeat(65_536)}\r\n`), 'too_large', SMALL],
  ['a body that announces too many bytes', end(OK_HEAD.replace('9999', '99999999999')), 'too_large', SMALL],
  [
    'a body that is too long when it is decompressed',
    socket =>
      void socket.write(
        formatRawResponse(200, gzipSync(Buffer.alloc(50_000_000)), ['content-encoding: gzip']),
      ),
    'too_large',
    SMALL,
  ],
];

const FAULTS = SERVERS.map(([name, respond, code, options = {}]) => [name, respond, code, options] as const);

describe('T33 a request', () => {
  it.each(FAULTS)(
    'to a server that sends %s ends with an error and releases its slot',
    async (_name, respond, code, options) => {
      let isHealthy = false;
      const server = await startRawServer(socket => {
        if (isHealthy) socket.write(formatRawResponse(200, '{}'));
        else respond(socket);
      });
      const http = createClient(server.url, options);
      expect(await getFailure(http.send(write))).toMatchObject({ code, mayHaveHappened: true });
      const streamed = (async () => collectBytes((await http.stream(call)).body))();
      expect((await getFailure(streamed)).code).toBe(code);
      await until(() => server.countActive() === 0, 'the end of every connection');
      isHealthy = true;
      expect((await http.send(call)).status).toBe(200);
    },
  );

  it('whose stream is slow times out, although no pause is long', async () => {
    const server = await startRawServer(drip(OK_HEAD, 'x'));
    const { body } = await createClient(server.url, { ...SOON, deadlineMs: 10_000 }).stream(call);
    expect((await getFailure(collectBytes(body))).code).toBe('timeout');
    await until(() => server.countActive() === 0, 'the end of every connection');
  });

  it('releases its slot if its stream is left, cancelled or never read', async () => {
    const server = await startRawServer(socket => {
      socket.write('HTTP/1.1 200 X\r\ncontent-length: 99999999\r\n\r\n');
      socket.write(Buffer.alloc(100_000));
    });
    const http = createClient(server.url, { streamDeadlineMs: 1500 });
    const left = await http.stream(call);
    for await (const chunk of left.body) if (chunk.length > 0) break;
    await (await http.stream(call)).cancel();
    await http.stream(call);
    await (await http.stream(call)).cancel();
    await until(
      () => server.requests.length === 4 && server.countActive() === 0,
      'the end of every connection',
    );
  });

  it.each([
    ['a read that times out', call, '', false],
    ['a read that is cut', call, CUT, false],
    ['a read that is answered 503', call, formatRawResponse(503, '{}'), false],
    ['a write that is answered 503', write, formatRawResponse(503, '{}'), true],
    ['a write that is answered 400', write, formatRawResponse(400, '{}'), false],
    ['a GET that writes and is cut', { ...call, repeatable: false }, 'HTTP/1.1 200 X\r\n', true],
  ])('states whether it may have happened: %s', async (_name, request, answer, mayHaveHappened) => {
    const server = await startRawServer(socket => {
      if (answer !== '') socket.end(answer);
    });
    expect(await getFailure(createClient(server.url, SOON).send(request))).toMatchObject({ mayHaveHappened });
  });
});

describe('T33 the body of a response that stalls', () => {
  /** Creates a response whose body stalls after its first bytes and ignores an abort. */
  const createStalledResponse = () =>
    new Response(
      new ReadableStream({
        start: controller => controller.enqueue(new TextEncoder().encode('all of it')),
        pull: () => new Promise(() => {}),
      }),
    );

  it.each([
    ['when its request is aborted', 'later', 60_000, { message: 'not wanted' }],
    ['at once if its request was aborted before', 'before', 60_000, { message: 'not wanted' }],
    ['at the idle limit', 'never', 5, { code: 'timeout' }],
  ])('ends %s', async (_title, aborted, idleMs, expected) => {
    const abort = new AbortController();
    if (aborted === 'before') abort.abort(new Error('not wanted'));
    const body = readBody(createStalledResponse(), { maxBytes: 1000, idleMs, abort });
    if (aborted === 'later') setTimeout(() => abort.abort(new Error('not wanted')), 5);
    await expect(body).rejects.toMatchObject(expected);
  });
});

describe('T32 a redirect', () => {
  it.each([301, 302, 303, 307, 308])('%i is refused, and the other host receives nothing', async status => {
    let reached = 0;
    const other = await startLoopbackServer((_request, response) => {
      reached += 1;
      response.end('{}');
    });
    const redirect = (_request: IncomingMessage, response: ServerResponse) =>
      response.writeHead(status, { location: `${other.url}/x` }).end();
    const registry = await startLoopbackServer(redirect);
    const error = await getFailure(createClient(registry.url).send(call));
    expect(error).toMatchObject({ code: 'bad_answer', status });
    expect(reached).toBe(0);
  });
});

describe('a cancelled request', () => {
  it('closes its connection at any stage', async () => {
    const server = await startRawServer((socket, count) => {
      if (count > 1) socket.write(CUT);
    });
    const http = createClient(server.url);
    const waiting = new AbortController();
    const first = getFailure(http.send({ ...call, signal: waiting.signal }));
    const queued = getFailure(http.send({ ...call, signal: waiting.signal }));
    await until(() => server.requests.length === 1, 'the first request');
    waiting.abort();
    expect([(await first).code, (await queued).code]).toEqual(['cancelled', 'cancelled']);
    const reading = new AbortController();
    const { body } = await http.stream({ ...call, signal: reading.signal });
    const second = getFailure(collectBytes(body));
    reading.abort();
    expect((await second).code).toBe('cancelled');
    await until(
      () => server.requests.length === 2 && server.countActive() === 0,
      'the end of every connection',
    );
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
    const http = createClient(server.url, { onCall: () => gone.abort() });
    const first = http.send(call);
    const second = getFailure(http.send({ ...call, signal: gone.signal }));
    await first;
    expect(await second).toMatchObject({ code: 'cancelled', mayHaveHappened: false });
    await createClient(server.url).send(call);
    expect(server.requests).toHaveLength(2);
  });
});

describe('an answer', () => {
  it.each([
    ['an HTTP date', ['date: Mon, 01 Jun 2026 13:00:00 GMT'], 3_600_000],
    ['an HTTP date, if it comes from a cache', ['date: Mon, 01 Jun 2026 11:00:00 GMT', 'age: 3600'], null],
    ...['5', '1970', 'Mon, 01 Jun 2026 12:00:00', '2026-06-01T13:00:00Z', 'junk', '9'.repeat(300)].map(
      (date): [string, string[], null] => [date.slice(0, 30), [`date: ${date}`], null],
    ),
  ])('T42 with the Date %s gives the clock its skew, or none', async (_title, headers, skewMs) => {
    const server = await startRawServer(socket => socket.write(formatRawResponse(200, '{}', headers)));
    const http = createClient(server.url);
    await http.send(call);
    expect(http.clockSkewMs()).toBe(skewMs);
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

  it.each([
    ['of a write was refused', write, true, false, /: the connection was refused \(ECONNREFUSED\)$/],
    ['of a write was lost', write, false, true, /: the connection was lost \((UND_ERR_SOCKET|ECONNRESET)\)$/],
    ['of a read was lost', call, false, false, /: the connection was lost \((UND_ERR_SOCKET|ECONNRESET)\)$/],
  ])(
    'that is missing is described: the connection %s',
    async (_title, sent, isClosed, mayHaveHappened, message) => {
      const loopback = await startLoopbackServer(request => request.socket.destroy());
      if (isClosed) loopback.server.close();
      const error = await getFailure(createClient(loopback.url, { attempts: 2 }).send(sent));
      expect(error).toMatchObject({ code: 'unavailable', mayHaveHappened });
      expect(error.message).toMatch(message);
    },
  );
});
