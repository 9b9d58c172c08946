import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is known of one open connection. */
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

export type ConnectionLimiter = ReturnType<typeof createConnectionLimiter>;

/** Creates a limiter of a server's connections. Clients that do not read their responses are disconnected. */
export function createConnectionLimiter(limits: ConnectionLimits) {
  const { maxConnections, responseReadTimeoutMs, maxPipelinedRequests } = limits;
  /** Ordered by when the client last finished reading a response, the longest ago first. */
  const connections = new Map<Socket, Connection>();
  let checkTimer: NodeJS.Timeout | undefined;

  /** Resets a TCP connection and discards its unsent bytes. */
  function resetConnection(socket: Socket): void {
    // After an ordinary close the kernel would keep unread bytes. An HTTP/1.0 client would take half a response for a
    // complete one.
    connections.delete(socket);
    stopParsing(socket);
    socket.resetAndDestroy();
  }

  /** Resets connections of clients that read nothing of their responses within the timeout. */
  function resetStalledConnections(): void {
    // Unread responses stay in memory.
    for (const [socket, connection] of connections) {
      const bytesRead = socket.bytesWritten - socket.writableLength;
      const hasProgress = socket.writableLength === 0 || bytesRead > connection.bytesRead;
      connection.stalledChecks = hasProgress ? 0 : connection.stalledChecks + 1;
      connection.bytesRead = bytesRead;
      if (connection.stalledChecks > CHECKS_PER_TIMEOUT) resetConnection(socket);
    }
  }

  /** Resets the least recently used connections until there is room for one more. */
  function makeRoomForConnection(): void {
    for (const socket of connections.keys()) {
      if (connections.size < maxConnections) return;
      resetConnection(socket);
    }
  }

  /** Called after a response. Marks its connection as recently used. If the connection is to close, stops its HTTP parser. */
  function updateConnectionAfterResponse(this: ServerResponse): void {
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
      makeRoomForConnection();
      connections.set(socket, { pendingResponses: 0, bytesRead: 0, stalledChecks: 0 });
      socket.once('close', () => connections.delete(socket));
    },
    /** Counts a request. Returns false if the connection was reset, so that the request must not be answered. */
    admit: (socket: Socket, response: ServerResponse): boolean => {
      const connection = connections.get(socket);
      if (connection === undefined) return false;
      if (connection.pendingResponses === maxPipelinedRequests) {
        resetConnection(socket);
        return false;
      }
      connection.pendingResponses += 1;
      response.on('finish', updateConnectionAfterResponse);
      return true;
    },
    /** Resets the connections whose client has not read all responses yet. */
    resetUnanswered: (): void => {
      for (const [socket, { pendingResponses }] of connections)
        if (pendingResponses > 0) resetConnection(socket);
    },
    start: (): void => {
      checkTimer = setInterval(resetStalledConnections, responseReadTimeoutMs / CHECKS_PER_TIMEOUT);
    },
    stop: () => clearInterval(checkTimer),
  };
}

/** What Node's parser expects for an upgrade: the following bytes are not HTTP. */
const SKIP_REMAINING_BYTES = 2;

/** Stops the HTTP parser of a connection, so that received bytes are not parsed as further requests. */
function stopParsing(socket: Socket): void {
  // Up to 64 kB are already read and may hold thousands of requests. To fail each of them costs a hundred times as much
  // as the reset. The property is private to Node. If a later version lacks it, only the speed is lost.
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null)
    Reflect.set(parser, 'onIncoming', () => SKIP_REMAINING_BYTES);
}
