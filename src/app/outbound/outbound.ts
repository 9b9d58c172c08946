/**
 * The one function that posts to addresses which the operator set: subscriptions of events and the timestamp authority. A host
 * name is resolved once for each connection, every address is checked, and the connection is made to one of them. Redirects
 * are not followed, and no proxy of the environment is used.
 */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { classifyAddress, type OutboundRange } from './address-ranges.js';
import { type OutboundErrorCode, OutboundError } from './outbound-error.js';

/** Resolves a host name to all its addresses. */
type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>;

export interface OutboundOptions {
  /** Ranges beside public addresses that may be connected to. */
  readonly allowed: readonly OutboundRange[];
  /** Whether plain http is accepted for every address. Otherwise it is accepted for loopback only. */
  readonly allowsHttp?: boolean;
  /** How many connections may be open to one host. They are reused until `close`. */
  readonly connections?: number;
  readonly resolveHost?: ResolveHost;
  /** Certificates of authorities that are trusted instead of the usual ones. For tests. */
  readonly ca?: string;
}

interface OutboundRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly maxResponseBytes: number;
}

interface OutboundResponse {
  readonly status: number;
  readonly body: Uint8Array;
}

export interface Outbound {
  /** Posts a body. Throws an `OutboundError` unless a whole answer arrives within 10 s and the size limit. */
  readonly post: (request: OutboundRequest) => Promise<OutboundResponse>;
  /** Ends all requests and connections. */
  readonly close: () => void;
}

/** The time limit of a request with everything: name resolution, connection and answer. */
const TIMEOUT_MS = 10_000;

/** Creates an HTTP client that connects only to allowed addresses. `close` aborts the open requests. */
export function createOutbound(options: OutboundOptions): Outbound {
  const { connections = 1, resolveHost = host => lookup(host, { all: true }), ca } = options;
  const pool = { keepAlive: true, maxSockets: connections, maxFreeSockets: connections };
  const agents = {
    http: new HttpAgent(pool),
    https: new HttpsAgent({ ...pool, ...(ca !== undefined && { ca }) }),
  };
  const open = new Set<ClientRequest>();

  /** Sends a POST request and returns the response. Repeats the request if the server has closed a kept-alive connection. */
  async function post(request: OutboundRequest): Promise<OutboundResponse> {
    const url = parseOutboundUrl(request.url);
    // A socket is not asked for the address of a host that is an address.
    const literal = readLiteralAddress(url);
    if (literal !== null) assertAllowed([literal], url, options);
    const isHttps = url.protocol === 'https:';
    const { body, headers, maxResponseBytes } = request;
    const send = isHttps ? requestHttps : requestHttp;
    const sent = send(url, {
      method: 'POST',
      agent: isHttps ? agents.https : agents.http,
      lookup: createCheckedLookup(url, options, resolveHost),
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    });
    open.add(sent);
    try {
      return await sendAndReadResponse(sent, body, maxResponseBytes);
    } catch (error) {
      // The server may close a connection that was kept open just when it is used again.
      if (sent.reusedSocket && isConnectionReset(error)) return await post(request);
      throw error;
    } finally {
      open.delete(sent);
    }
  }

  return {
    post,
    close: () => {
      for (const request of open) request.destroy(new OutboundError('stopped', 'the program is stopping'));
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** Parses a URL. Throws an `OutboundError` unless it is an http or https URL without user and password. */
export function parseOutboundUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new OutboundError('address_refused', 'expected an https URL without user and password');
  return url;
}

/** Returns the host of a URL if it is an IP address, or null if it is a name. */
export function readLiteralAddress({ hostname }: URL): string | null {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 ? null : host;
}

/** Throws an `OutboundError` unless the program may connect to all addresses of a URL. */
export function assertAllowed(
  addresses: readonly string[],
  url: URL,
  { allowed, allowsHttp = false }: Pick<OutboundOptions, 'allowed' | 'allowsHttp'>,
): void {
  if (addresses.length === 0)
    throw new OutboundError('unreachable', `the host ${url.hostname} has no address`);
  for (const address of addresses) {
    const range = classifyAddress(address);
    if (range === 'forbidden')
      throw new OutboundError('address_refused', `the address ${address} is not public`);
    if (range !== 'public' && !allowed.includes(range))
      throw new OutboundError(
        'address_refused',
        `the address ${address} is not public; OUTBOUND_ALLOW=${range} allows it`,
      );
    if (url.protocol === 'http:' && range !== 'loopback' && !allowsHttp)
      throw new OutboundError('address_refused', 'expected https, because the address is not a loopback one');
  }
}

/** Creates the `lookup` function of a socket. It resolves the host once and fails unless all addresses are allowed. */
function createCheckedLookup(url: URL, options: OutboundOptions, resolveHost: ResolveHost): LookupFunction {
  const resolveChecked = callbackify(async (host: string) => {
    const addresses = await resolveHost(host);
    assertAllowed(
      addresses.map(({ address }) => address),
      url,
      options,
    );
    return addresses;
  });
  return (host, { all }, callback) =>
    resolveChecked(host, (error: Error | null, addresses?: readonly LookupAddress[]) => {
      const [first] = addresses ?? [];
      if (all || first === undefined) callback(error, [...(addresses ?? [])]);
      else callback(error, first.address, first.family);
    });
}

/** Sends the body of an open request and reads the whole response. Aborts the request on a timeout or after `maxBytes`. */
function sendAndReadResponse(
  request: ClientRequest,
  body: string | Uint8Array,
  maxBytes: number,
): Promise<OutboundResponse> {
  return new Promise((resolve, reject) => {
    const abort = (code: OutboundErrorCode, message: string) =>
      request.destroy(new OutboundError(code, message));
    const timer = setTimeout(
      () => abort('timeout', `no whole answer within ${TIMEOUT_MS / 1000} s`),
      TIMEOUT_MS,
    );
    request.on('error', error => reject(toOutboundError(error)));
    request.on('close', () => {
      clearTimeout(timer);
      reject(new OutboundError('unreachable', 'the connection was closed before the answer ended'));
    });
    request.on('response', (response: IncomingMessage) => {
      const parts: Uint8Array[] = [];
      let size = 0;
      response.on('error', error => reject(toOutboundError(error)));
      response.on('data', (part: Uint8Array) => {
        size += part.length;
        if (size > maxBytes) abort('too_large', `the answer is longer than ${maxBytes} bytes`);
        else parts.push(part);
      });
      response.on('end', () => {
        clearTimeout(timer);
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts) });
      });
    });
    request.end(body);
  });
}

function isConnectionReset(error: unknown): boolean {
  return error instanceof OutboundError && error.code === 'unreachable' && error.isReset;
}

const RESET_CODES = ['ECONNRESET', 'EPIPE'];

/** Converts a network error to an `OutboundError` with the code `unreachable`. */
function toOutboundError(error: Error): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = 'code' in error ? String(error.code) : error.name;
  return new OutboundError('unreachable', `no answer (${code})`, {
    cause: error,
    isReset: RESET_CODES.includes(code),
  });
}
