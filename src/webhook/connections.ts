import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Connection {
  /** Requests whose response the client has not read yet. */
  pendingResponses: number;
  /** Bytes that the client had read at the last check. */
  bytesRead: number;
  /** How many checks in a row found unread responses and no progress. */
  stalledChecks: number;
}

interface ConnectionLimits {
  readonly maxConnections: number;
  /** A client that reads nothing of its responses for this long is disconnected. */
  readonly responseReadTimeoutMs: number;
  /** A client with more unanswered requests than this is disconnected. */
  readonly maxPipelinedRequests: number;
}

const CHECKS_PER_TIMEOUT = 5;

export type Connections = ReturnType<typeof createConnections>;

/**
 * Limits what the connections of one server may cost. A client that sends requests and never reads the responses would
 * keep all of them in memory, so it is disconnected. When the server is full, the connection that read no response for
 * longest makes room for a new one.
 */
export function createConnections(limits: ConnectionLimits) {
  const { maxConnections, responseReadTimeoutMs, maxPipelinedRequests } = limits;
  /** Ordered by when the client last finished reading a response, the longest ago first. */
  const connections = new Map<Socket, Connection>();
  let checkTimer: NodeJS.Timeout | undefined;

  /**
   * Resets a connection instead of closing it. The kernel then drops unread bytes, and half a response does not look
   * complete, as it would over HTTP/1.0, where the end of the connection ends the response.
   */
  function reset(socket: Socket): void {
    connections.delete(socket);
    stopParsing(socket);
    socket.resetAndDestroy();
  }

  function resetStalledConnections(): void {
    for (const [socket, connection] of connections) {
      const bytesRead = socket.bytesWritten - socket.writableLength;
      const hasProgress = socket.writableLength === 0 || bytesRead > connection.bytesRead;
      connection.stalledChecks = hasProgress ? 0 : connection.stalledChecks + 1;
      connection.bytesRead = bytesRead;
      if (connection.stalledChecks > CHECKS_PER_TIMEOUT) reset(socket);
    }
  }

  function makeRoom(): void {
    for (const socket of connections.keys()) {
      if (connections.size < maxConnections) return;
      reset(socket);
    }
  }

  function onResponseRead(this: ServerResponse): void {
    const { socket } = this.req;
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.pendingResponses -= 1;
    connection.stalledChecks = 0;
    connections.delete(socket);
    if (this.shouldKeepAlive) connections.set(socket, connection);
    else stopParsing(socket);
  }

  return {
    /** Tracks a new connection, after making room for it. */
    add: (socket: Socket): void => {
      makeRoom();
      connections.set(socket, { pendingResponses: 0, bytesRead: 0, stalledChecks: 0 });
      socket.once('close', () => connections.delete(socket));
    },
    /** Counts a request. Returns false if its connection is reset; the request must not be answered then. */
    admit: (socket: Socket, response: ServerResponse): boolean => {
      const connection = connections.get(socket);
      if (connection === undefined) return false;
      if (connection.pendingResponses === maxPipelinedRequests) {
        reset(socket);
        return false;
      }
      connection.pendingResponses += 1;
      response.on('finish', onResponseRead);
      return true;
    },
    /** Resets the connections that still wait for a response or a part of one. */
    resetUnanswered: (): void => {
      for (const [socket, { pendingResponses }] of connections) if (pendingResponses > 0) reset(socket);
    },
    start: (): void => {
      checkTimer = setInterval(resetStalledConnections, responseReadTimeoutMs / CHECKS_PER_TIMEOUT);
    },
    stop: () => clearInterval(checkTimer),
  };
}

/** What Node's parser expects for an upgrade: the following bytes are not HTTP. */
const SKIP_REMAINING_BYTES = 2;

/**
 * Stops Node from parsing the up to 64 kB that it has already read: thousands of requests, each with an error of its own,
 * would cost a hundred times as much as the reset. It uses an internal of Node; if that is missing, only the speed is lost.
 */
function stopParsing(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null)
    Reflect.set(parser, 'onIncoming', () => SKIP_REMAINING_BYTES);
}
