/**
 * Signs visitors in by a header that the company's proxy sets. A request is accepted only if it comes from the proxy, contains
 * the shared secret, and has the header exactly once. There is no other way to sign in while a proxy is configured.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { RoleLookup } from './actors.js';

export interface ProxySignInOptions {
  /** The name of the header with the visitor's name, in lower case. */
  readonly header: string;
  /** Returns whether a request came over a connection of the proxy. */
  readonly isFromProxy: (request: IncomingMessage) => boolean;
  readonly secret: string;
  readonly findRole: RoleLookup;
  /** Reports why a request was refused. It never receives a value that the request contained. */
  readonly onRefusal: (reason: ProxyRefusal) => void;
}

export type ProxyRefusal = 'another address' | 'secret' | 'no name' | 'several names' | 'malformed name';

interface ProxyVisitor {
  readonly name: string;
  readonly mayAct: boolean;
}

/** Returns the visitor of a request, or null if the request must be refused. */
export type ProxySignIn = (request: IncomingMessage) => ProxyVisitor | null;

/** The sign-in through the company's proxy. */
export interface ConsoleProxy {
  readonly signIn: ProxySignIn;
  /** Opens the Unix socket for the proxy. Returns null if the proxy connects to the port of the console. */
  readonly listen: (app: RequestListener) => Promise<{ readonly close: () => Promise<void> } | null>;
}

/** The header in which the proxy sends the shared secret. */
const PROXY_SECRET_HEADER = 'x-console-proxy-secret';

/** A comma would mean that two headers were joined. */
const NAME = /^[\w.@+=:|/\\-]{1,254}$/;

/**
 * Creates the function that identifies a visitor by the header that the sign-in proxy sets. If a request must be refused, the
 * function reports the reason to `onRefusal` and returns null.
 */
export function createProxySignIn(options: ProxySignInOptions): ProxySignIn {
  const { header, isFromProxy, secret, findRole, onRefusal } = options;
  const secretHash = hash(secret);

  const hasSecret = (request: IncomingMessage): boolean => {
    const [sent, ...others] = getHeaderValues(request, PROXY_SECRET_HEADER);
    return sent !== undefined && others.length === 0 && timingSafeEqual(hash(sent), secretHash);
  };

  /** Returns why a request cannot sign in through the proxy. Returns null if it can. */
  function findRefusal(request: IncomingMessage): ProxyRefusal | null {
    if (!isFromProxy(request)) return 'another address';
    if (!hasSecret(request)) return 'secret';
    const [name, ...others] = getHeaderValues(request, header);
    if (name === undefined) return 'no name';
    if (others.length > 0) return 'several names';
    return NAME.test(name) ? null : 'malformed name';
  }

  return request => {
    const refusal = findRefusal(request);
    const [name] = getHeaderValues(request, header);
    if (refusal !== null || name === undefined) {
      onRefusal(refusal ?? 'no name');
      return null;
    }
    return { name, mayAct: findRole(name) === 'act' };
  };
}

/** Returns all values of a header. Node's parsed headers would join or drop repeated values. */
function getHeaderValues({ rawHeaders }: IncomingMessage, header: string): readonly string[] {
  return rawHeaders.filter(
    (_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === header,
  );
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
