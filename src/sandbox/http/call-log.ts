import type { NextFunction, Request, Response } from 'express';
import type { SandboxStore } from '../store/store.js';
import { getVersionHeaderName } from './headers.js';

export const MAX_LOGGED_CALLS = 100_000;
/** How many calls above the maximum are kept until the log is trimmed, because trimming copies it. */
const SPARE_CALLS = 1000;
/** The name of the operation that logs a call. */
export const CALL_OPERATION = 'call';

/** The app, token and installation that made a request. */
export interface CallerIdentity {
  readonly appId: string;
  readonly tokenId: string | null;
  readonly installationId: string | null;
}

/** A request in the call log. */
export interface LoggedCall {
  readonly id: number;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly appId: string | null;
  readonly installationId: string | null;
  readonly tokenId: string | null;
  /** The version header; null if it was missing. */
  readonly version: string | null;
  readonly status: number;
}

/** Selects requests from the call log. A filter that is null matches every request. */
export interface CallFilter {
  readonly appId: string | null;
  readonly installationId: string | null;
  readonly limit: number;
}

/** Creates a log in memory of the latest requests to the registry. */
export function createCallLog({ now, defineOperation }: SandboxStore, headerPrefix: string) {
  const callers = new WeakMap<Request, CallerIdentity>();
  const header = getVersionHeaderName(headerPrefix);
  let calls: LoggedCall[] = [];
  let lastId = 0;

  const logCall = defineOperation(CALL_OPERATION, (call: LoggedCall) => {
    lastId = call.id;
    calls.push(call);
    if (calls.length > MAX_LOGGED_CALLS + SPARE_CALLS) calls = calls.slice(-MAX_LOGGED_CALLS);
  });

  /** Creates the log entry of a request. The caller's ids are null if the credential was not verified. */
  function toLoggedCall(req: Request, path: string, status: number): LoggedCall {
    const { appId = null, installationId = null, tokenId = null } = callers.get(req) ?? {};
    const caller = { appId, installationId, tokenId };
    const version = req.get(header) ?? null;
    return { id: lastId + 1, at: now(), method: req.method, path, ...caller, version, status };
  }

  return {
    /** Express middleware that logs each request just before the response is sent. */
    recordCall: (req: Request, res: Response, next: NextFunction): void => {
      const { path } = req;
      const writeHead = res.writeHead.bind(res);
      Object.assign(res, {
        /** Logs the request, then sends the status and headers. Replaces Node's method of the same name. */
        writeHead(...args: Parameters<typeof writeHead>) {
          logCall(toLoggedCall(req, path, args[0]));
          return writeHead(...args);
        },
      });
      next();
    },
    setCaller: (req: Request, caller: CallerIdentity) => void callers.set(req, caller),
    list: ({ appId, installationId, limit }: CallFilter) =>
      calls
        .filter(call => appId === null || call.appId === appId)
        .filter(call => installationId === null || call.installationId === installationId)
        .slice(-limit)
        .toReversed(),
    countCallsWithoutVersion: () => calls.filter(({ version }) => version === null).length,
  };
}
