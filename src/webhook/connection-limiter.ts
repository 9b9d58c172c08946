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

/**
 * Creates the limiter of one server's connections. It disconnects clients that send requests and do not read the
 * responses, because unread responses stay in memory. When the server is full, it disconnects the client that has not
 * read a response for longest.
 */
export function createConnectionLimiter(limits: ConnectionLimits) {
  const { maxConnections, responseReadTimeoutMs, maxPipelinedRequests } = limits;
  /** Ordered by when the client last finished reading a response, the longest ago first. */
  const connections = new Map<Socket, Connection>();
  let checkTimer: NodeJS.Timeout | undefined;

  /**
   * Ends a connection by a TCP reset. After an ordinary close the kernel would keep unread bytes, and an HTTP/1.0 client
   * would take half a response for a complete one.
   */
  function resetConnection(socket: Socket): void {
    connections.delete(socket);
    stopParsing(socket);
    socket.resetAndDestroy();
  }

  /** Resets the connections whose client has read nothing of its responses since several checks. */
  function resetStalledConnections(): void {
    for (const [socket, connection] of connections) {
      const bytesRead = socket.bytesWritten - socket.writableLength;
      const hasProgress = socket.writableLength === 0 || bytesRead > connection.bytesRead;
      connection.stalledChecks = hasProgress ? 0 : connection.stalledChecks + 1;
      connection.bytesRead = bytesRead;
      if (connection.stalledChecks > CHECKS_PER_TIMEOUT) resetConnection(socket);
    }
  }

  /** Resets the connections that read no response for longest, until the server has room for one more. */
  function makeRoomForConnection(): void {
    for (const socket of connections.keys()) {
      if (connections.size < maxConnections) return;
      resetConnection(socket);
    }
  }

  /** Counts a response as read and moves its connection to the end of the order. */
  function handleResponseRead(this: ServerResponse): void {
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
    /** Counts a request. Returns false if that resets the connection or it was reset before; then do not answer. */
    admit: (socket: Socket, response: ServerResponse): boolean => {
      const connection = connections.get(socket);
      if (connection === undefined) return false;
      if (connection.pendingResponses === maxPipelinedRequests) {
        resetConnection(socket);
        return false;
      }
      connection.pendingResponses += 1;
      response.on('finish', handleResponseRead);
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

/**
 * Stops Node from parsing the bytes that it has already read from a connection. These up to 64 kB may hold thousands of
 * requests, and to fail each of them costs a hundred times as much as the reset. The property is private to Node; if a
 * later version lacks it, only the speed is lost.
 */
function stopParsing(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null)
    Reflect.set(parser, 'onIncoming', () => SKIP_REMAINING_BYTES);
}
