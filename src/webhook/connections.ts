import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Connection {
  /** Requests whose answer has not been taken. */
  outstanding: number;
  /** Bytes of answers that were taken, at the last look. */
  taken: number;
  /** How many looks in a row found answers that wait to be taken. */
  stalled: number;
}

type Limits = Readonly<Record<'maxConnections' | 'takeWithinMs' | 'maxOutstanding', number>>;

const LOOKS = 5;

export type Connections = ReturnType<typeof createConnections>;

/** A sender that asks and never reads would have each of its answers kept in memory. */
export function createConnections({ maxConnections, takeWithinMs, maxOutstanding }: Limits) {
  /** In the order in which they have last taken an answer. */
  const open = new Map<Socket, Connection>();
  let looking: NodeJS.Timeout | undefined;

  /**
   * Resets a connection instead of closing it: the kernel drops what was not taken, and a half of an answer does not
   * look like the whole, which over HTTP/1.0 ends where the connection closes.
   */
  function cut(socket: Socket): void {
    open.delete(socket);
    stopParsing(socket);
    socket.resetAndDestroy();
  }

  function look(): void {
    for (const [socket, connection] of open) {
      const taking = socket.bytesWritten - socket.writableLength;
      const isTaking = socket.writableLength === 0 || taking > connection.taken;
      connection.stalled = isTaking ? 0 : connection.stalled + 1;
      connection.taken = taking;
      if (connection.stalled > LOOKS) cut(socket);
    }
  }

  function makeRoom(): void {
    for (const socket of open.keys()) {
      if (open.size < maxConnections) return;
      cut(socket);
    }
  }

  function taken(this: ServerResponse): void {
    const { socket } = this.req;
    const connection = open.get(socket);
    if (connection === undefined) return;
    connection.outstanding -= 1;
    connection.stalled = 0;
    open.delete(socket);
    if (this.shouldKeepAlive) open.set(socket, connection);
    else stopParsing(socket);
  }

  return {
    add: (socket: Socket): void => {
      makeRoom();
      open.set(socket, { outstanding: 0, taken: 0, stalled: 0 });
      socket.once('close', () => open.delete(socket));
    },
    /** False where the connection is cut: this request is not to be answered any more. */
    admit: (socket: Socket, response: ServerResponse): boolean => {
      const connection = open.get(socket);
      if (connection === undefined) return false;
      if (connection.outstanding === maxOutstanding) {
        cut(socket);
        return false;
      }
      connection.outstanding += 1;
      response.on('finish', taken);
      return true;
    },
    /** Resets the connections that still wait for an answer or a part of one. */
    cutUnanswered: (): void => {
      for (const [socket, { outstanding }] of open) if (outstanding > 0) cut(socket);
    },
    start: (): void => {
      looking = setInterval(look, takeWithinMs / LOOKS);
    },
    stop: () => clearInterval(looking),
  };
}

/** As for an upgrade: what follows is not HTTP. */
const NO_MORE = 2;

/**
 * Node would go on to make requests of the 64 kB that it has in hand, some thousands, and an error for each of them:
 * a hundred times the work of cutting the connection. Where a Node has no such parser, that is all that happens.
 */
function stopParsing(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null) Reflect.set(parser, 'onIncoming', () => NO_MORE);
}
