import { once } from 'node:events';
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import { type ConnectionLimiter, createConnectionLimiter } from './connection-limiter.js';
import { PROBLEM_TYPE, formatProblem } from './problem-response.js';

/** A running HTTP server. */
export interface HttpListener {
  readonly port: number;
  readonly address: string;
  /** Stops accepting connections, and waits for requests in progress until the grace period is over. */
  close(): Promise<void>;
}

/** Limits of a server, in milliseconds where the name says so. They suit the webhook receiver. */
export const DEFAULT_LIMITS = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  /** How often Node enforces the two timeouts above. */
  checkIntervalMs: 1000,
  /** A client that reads nothing of its responses for this long is disconnected. */
  responseReadTimeoutMs: 5000,
  /** Beyond this, the connection that read no response for longest is closed to make room. */
  maxConnections: 1000,
  /** Requests that one connection may pipeline before it reads a response. */
  maxPipelinedRequests: 32,
  /** Answers a client that has closed its sending half; otherwise it would not learn that its post was stored. */
  allowHalfOpen: true,
  /** Handles a pipelined request only after the previous response, because a waiting response may hold a database reader. */
  handleSequentially: false,
  /** How long a connection without a request stays open. */
  idleTimeoutMs: 5000,
  /** How long requests in progress may take to finish when the server closes. */
  shutdownGraceMs: 5000,
};

/** Where to listen; port 0 takes any free port. */
interface BindAddress {
  readonly host: string;
  readonly port: number;
  /** The path of a Unix socket on which to listen instead. */
  readonly socketPath?: string;
}

export type ListenOptions = BindAddress & Readonly<Partial<typeof DEFAULT_LIMITS>>;

const LIMITS_FOR_PEOPLE = {
  maxConnections: 200,
  maxPipelinedRequests: 4,
  handleSequentially: true,
  /** A browser that closes its half has left, so work on its response can stop. */
  allowHalfOpen: false,
  responseReadTimeoutMs: 30_000,
  /** Long, because a client that reuses a connection while it is being closed gets an error. */
  idleTimeoutMs: 60_000,
  shutdownGraceMs: 0,
};

const IDLE_SWEEP_MS = 20;

/** Starts an HTTP server with timeouts and connection limits. Resolves when the server accepts connections. */
export async function listen(app: RequestListener, options: ListenOptions): Promise<HttpListener> {
  const limits = { ...DEFAULT_LIMITS, ...options };
  const connectionLimiter = createConnectionLimiter(limits);
  const handle = limits.handleSequentially ? handleSequentially(app) : app;
  const server = createServer(
    {
      ...createMessageClasses(app),
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      keepAliveTimeout: limits.idleTimeoutMs,
    },
    (request, response) => {
      if (connectionLimiter.admit(request.socket, response)) handle(request, response);
    },
  );
  server.on('connection', connectionLimiter.add);
  server.on('listening', connectionLimiter.start);
  server.on('close', connectionLimiter.stop);
  Object.assign(server, { httpAllowHalfOpen: limits.allowHalfOpen });
  server.on('clientError', answerBrokenRequest);
  const { host, port, socketPath } = options;
  await once(socketPath === undefined ? server.listen(port, host) : server.listen(socketPath), 'listening');
  const address = server.address();
  const bound =
    typeof address === 'object' && address !== null ? address : { address: socketPath ?? host, port };
  return {
    port: bound.port,
    address: bound.address,
    close: () => closeServer(server, connectionLimiter, limits.shutdownGraceMs),
  };
}

/** Starts an HTTP server with limits that suit browsers and command-line tools. */
export function listenForPeople(app: RequestListener, options: ListenOptions): Promise<HttpListener> {
  return listen(app, { ...LIMITS_FOR_PEOPLE, ...options });
}

/** Wraps a request handler so that pipelined requests of one connection run one after another. */
function handleSequentially(app: RequestListener): RequestListener {
  // If requests overlapped and the client left, Node would emit no `close` for a waiting response. Its handler would
  // leak resources.
  const queues = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const queue = queues.get(socket) ?? [];
    queues.set(socket, queue);
    queue.push(() => app(request, response));
    response.once('finish', () => {
      queue.shift();
      if (socket.writable) queue[0]?.();
    });
    if (queue.length === 1) app(request, response);
  };
}

/**
 * Creates request and response classes whose objects have the prototypes of Express from the start. Otherwise Express changes the prototype
 * of each request and response, which is slow. Returns `{}` if `app` is not an Express app.
 */
function createMessageClasses(
  app: RequestListener,
): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  // Express sets the prototype of every request and response. Changing a prototype costs more than all other work on a
  // request.
  if (!isExpressApp(app)) return {};
  class AppRequest extends IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

function isExpressApp(app: RequestListener): app is Express {
  return 'request' in app;
}

/** Closes a server. Cuts the connections of requests that take longer than the grace period. */
function closeServer(server: Server, connectionLimiter: ConnectionLimiter, graceMs: number): Promise<void> {
  return new Promise(resolve => {
    const idleSweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
    const graceTimer = setTimeout(() => {
      connectionLimiter.resetUnanswered();
      server.closeAllConnections();
    }, graceMs);
    server.close(() => {
      clearInterval(idleSweep);
      clearTimeout(graceTimer);
      resolve();
    });
  });
}

/** Called for a request that is invalid HTTP or has timed out. Sends an error response and closes the connection. */
function answerBrokenRequest({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  const { status, detail } = describeBrokenRequest(code);
  const body = formatProblem(status, detail);
  const head = `content-type: ${PROBLEM_TYPE}\r\ncontent-length: ${body.length}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n\r\n${body}`, () => socket.destroy());
}

/** Converts an error code of Node's HTTP parser to the status and detail of a response. */
function describeBrokenRequest(code: string | undefined): { status: number; detail: string } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, detail: 'the request came too slowly' };
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, detail: 'the headers are too large' };
  return { status: 400, detail: 'expected an HTTP/1.1 request' };
}
