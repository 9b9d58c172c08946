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
import { type Connections, createConnections } from './connections.js';
import { PROBLEM_TYPE, problemText } from './problem.js';

export interface Listening {
  readonly port: number;
  readonly address: string;
  /** Take no more, answer what is under way, close idle sockets. */
  close(): Promise<void>;
}

/** How long a sender may take, how soon a server that closes gives up on it, and how many there may be. */
export const DEFAULT_LIMITS = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  /** Node cuts slow senders only as often as this. */
  checkIntervalMs: 1000,
  /** Whoever takes nothing of what was answered for this long is cut. */
  takeWithinMs: 5000,
  /** Beyond this the one that has taken no answer for longest makes room. */
  maxConnections: 1000,
  /** A sender that does not wait for its answers (pipelining) has no more under way than this. */
  maxOutstanding: 32,
  /** A sender that has closed its own half still reads: without this it would not learn that its post was stored. */
  answersHalfClosed: true,
  /** Whether a pipelined request is handled only after the answer before it: such an answer may hold a reader until it is sent. */
  handlesInTurn: false,
  /** How long a connection without a request stays open. */
  idleMs: 5000,
  /** How long requests that are under way may take to end when the server closes. */
  graceMs: 5000,
};

/** Where: port 0 takes any free one. */
interface Address {
  readonly host: string;
  readonly port: number;
}

export type ListenOptions = Address & Readonly<Partial<typeof DEFAULT_LIMITS>>;

const FOR_PEOPLE = {
  maxConnections: 200,
  maxOutstanding: 4,
  handlesInTurn: true,
  /** A browser that closes its half has left, and ends what was made for it. */
  answersHalfClosed: false,
  takeWithinMs: 30_000,
  /** Longer than a busy machine lets a caller wait, who would else send into a connection that is being closed. */
  idleMs: 60_000,
  graceMs: 0,
};

const IDLE_SWEEP_MS = 20;

/** Every listener of the program: who does not take what was answered, or asks without reading, costs the others nothing. */
export async function listen(app: RequestListener, options: ListenOptions): Promise<Listening> {
  const limits = { ...DEFAULT_LIMITS, ...options };
  const { host, port, graceMs } = limits;
  const connections = createConnections(limits);
  const handle = limits.handlesInTurn ? handleInTurn(app) : app;
  const server = createServer(
    {
      ...messagesOf(app),
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      keepAliveTimeout: limits.idleMs,
    },
    (request, response) => {
      if (connections.admit(request.socket, response)) handle(request, response);
    },
  );
  server.on('connection', connections.add);
  server.on('listening', connections.start);
  server.on('close', connections.stop);
  Object.assign(server, { httpAllowHalfOpen: limits.answersHalfClosed });
  server.on('clientError', answerBrokenRequest);
  await once(server.listen(port, host), 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address : { address: host, port };
  return { port: bound.port, address: bound.address, close: () => close(server, connections, graceMs) };
}

/** Where people and programs ask, who wait for one answer before they ask again. Nobody's work hangs on what is open at the end. */
export function listenForPeople(app: RequestListener, options: ListenOptions): Promise<Listening> {
  return listen(app, { ...FOR_PEOPLE, ...options });
}

/**
 * Handles the requests of one connection one after the other. Node emits no `close` for a response that waits for the
 * one before it: its handler would hold what it reads from for ever.
 */
function handleInTurn(app: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const handlers = waiting.get(socket) ?? [];
    waiting.set(socket, handlers);
    handlers.push(() => app(request, response));
    response.once('finish', () => {
      handlers.shift();
      if (socket.writable) handlers[0]?.();
    });
    if (handlers.length === 1) app(request, response);
  };
}

/**
 * Express gives every request and response the prototype of its app. Where they are made with it from the start,
 * that changes nothing; where it really changes an object, it costs more than everything else that is done with it.
 */
function messagesOf(app: RequestListener): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  if (!isExpress(app)) return {};
  class AppRequest extends IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

function isExpress(app: RequestListener): app is Express {
  return 'request' in app;
}

function close(server: Server, connections: Connections, graceMs: number): Promise<void> {
  return new Promise(resolve => {
    const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
    const cut = setTimeout(() => {
      connections.cutUnanswered();
      server.closeAllConnections();
    }, graceMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(cut);
      resolve();
    });
  });
}

/** What Node could not parse as HTTP, or what came too slowly. */
function answerBrokenRequest({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  const [status, detail] = describe(code);
  const body = problemText(status, detail);
  const head = `content-type: ${PROBLEM_TYPE}\r\ncontent-length: ${body.length}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n\r\n${body}`, () => socket.destroy());
}

function describe(code: string | undefined): readonly [number, string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'the request came too slowly'];
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'the headers are too large'];
  return [400, 'expected an HTTP/1.1 request'];
}
