import { createServer, type IncomingMessage, request as forward, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenOnFreePort } from './listen.js';

/** A response, or its text alone if the status is 200; null lets the sandbox answer. */
export type ProxyAnswer = string | { readonly status: number; readonly text: string } | null;

/** Hooks that change requests and delay responses. */
export interface ProxyHooks {
  /** Returns the path that is requested from the sandbox. */
  readonly rewrite: (path: string) => string;
  /** Receives each complete response of the sandbox, which is sent on when the promise resolves. */
  readonly hold: (path: string, body: Buffer) => Promise<void>;
}

/** Starts a proxy in front of a sandbox, which can answer in its place. Returns its URL. */
export async function startProxy(
  target: string,
  answer: (path: string, authorization: string) => ProxyAnswer,
  hooks: ProxyHooks | null = null,
): Promise<string> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const override = answer(path, request.headers.authorization ?? '');
    if (override !== null) {
      const { status, text } = typeof override === 'string' ? { status: 200, text: override } : override;
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      return;
    }
    const options = { method: request.method, headers: request.headers };
    const forwarded = forward(new URL(hooks?.rewrite(path) ?? path, target), options, incoming => {
      if (hooks === null) return sendUnchanged(incoming, response);
      sendAfterHold(incoming, response, body => hooks.hold(path, body)).catch(() => response.destroy());
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
  return `http://127.0.0.1:${await listenOnFreePort(server)}`;
}

function sendUnchanged(incoming: IncomingMessage, response: ServerResponse): void {
  response.writeHead(incoming.statusCode ?? 502, incoming.headers);
  incoming.pipe(response);
}

async function sendAfterHold(
  incoming: IncomingMessage,
  response: ServerResponse,
  hold: (body: Buffer) => Promise<void>,
): Promise<void> {
  const body = await buffer(incoming);
  await hold(body);
  response.writeHead(incoming.statusCode ?? 502, incoming.headers).end(body);
}
