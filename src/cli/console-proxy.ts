import { chmodSync, rmSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { ProxyOrigin } from '../app/config/console-proxy-settings.js';
import type { Log } from '../app/log.js';
import type { RoleLookup } from '../console/guard/actors.js';
import { type ConsoleProxy, createProxySignIn, type ProxyRefusal } from '../console/guard/proxy-sign-in.js';
import { createAddressCheck } from '../text/address-list.js';
import { type HttpListener, listenForPeople } from '../webhook/http-listener.js';
import { createRoleLookup } from './actors-file.js';

/** How visitors sign in through the company's proxy. */
export interface ConsoleProxySettings {
  readonly header: string;
  readonly from: ProxyOrigin;
  readonly secret: string;
  /** Null if nobody may act. */
  readonly actorsFile: string | null;
}

const REFUSAL_LOG_INTERVAL_MS = 60_000;
const SOCKET_MODE = 0o660;
const NO_PORT = { host: '', port: 0 };

/** Creates the console's sign-in through an authenticating proxy. Throws if the file with the users' roles cannot be read. */
export function createConsoleProxy(
  { header, from, secret, actorsFile }: ConsoleProxySettings,
  log: Pick<Log, 'warn' | 'error'>,
  now: () => number,
): ConsoleProxy {
  const proxySockets = new WeakSet<Socket>();
  const isFromProxy =
    'socket' in from
      ? (request: IncomingMessage) => proxySockets.has(request.socket)
      : createRemoteAddressCheck(from.addresses);
  const findRole: RoleLookup =
    actorsFile === null
      ? () => 'read'
      : createRoleLookup(actorsFile, error => log.error({ err: error }, 'file of actors is unusable'));

  return {
    signIn: createProxySignIn({
      header,
      isFromProxy,
      secret,
      findRole,
      onRefusal: createRefusalLogger(log, now),
    }),
    listen: async app => {
      if (!('socket' in from)) return null;
      const listener = await listenOnSocket(from.socket, (request, response) => {
        proxySockets.add(request.socket);
        app(request, response);
      });
      chmodSync(from.socket, SOCKET_MODE);
      return listener;
    },
  };
}

/** Returns a function that checks whether a request came from an IP address in one of the ranges. */
function createRemoteAddressCheck(ranges: readonly string[]): (request: IncomingMessage) => boolean {
  const isInRanges = createAddressCheck(ranges);
  return ({ socket: { remoteAddress } }) => remoteAddress !== undefined && isInRanges(remoteAddress);
}

/**
 * Returns a function that logs why a request was refused. It logs each reason at most once a minute, so that refused
 * requests cannot fill the disk.
 */
function createRefusalLogger(log: Pick<Log, 'warn'>, now: () => number): (reason: ProxyRefusal) => void {
  const loggedAt = new Map<ProxyRefusal, number>();
  return reason => {
    if (now() - (loggedAt.get(reason) ?? -Infinity) < REFUSAL_LOG_INTERVAL_MS) return;
    loggedAt.set(reason, now());
    log.warn({ reason }, 'console request refused: not from the sign-in proxy');
  };
}

/** Listens on a Unix socket. First removes a socket file that a killed process left behind. */
async function listenOnSocket(path: string, app: RequestListener): Promise<HttpListener> {
  try {
    return await listenForPeople(app, { ...NO_PORT, socketPath: path });
  } catch (error) {
    const isInUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!isInUse || (await acceptsConnections(path))) throw error;
    rmSync(path);
    return await listenForPeople(app, { ...NO_PORT, socketPath: path });
  }
}

/** Returns whether a process accepts connections on the Unix socket at this path. */
async function acceptsConnections(path: string): Promise<boolean> {
  return await new Promise(resolve => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
