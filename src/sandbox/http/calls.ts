import type { NextFunction, Request, Response } from 'express';
import type { Store } from '../store/store.js';
import { versionHeader } from './headers.js';

export const KEPT_CALLS = 100_000;
const SPARE_CALLS = 1000;
/** The verb that notes one. */
export const CALL = 'call';

/** What the call log notes about a caller, known as soon as the credential is read. */
export interface Attribution {
  readonly appId: string;
  readonly tokenId: string | null;
  readonly installationId: string | null;
}

export interface CallShape {
  readonly id: number;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly appId: string | null;
  readonly installationId: string | null;
  readonly tokenId: string | null;
  /** The version header as sent, or null where it was missing. */
  readonly version: string | null;
  readonly status: number;
}

export interface CallFilter {
  readonly appId: string | null;
  readonly installationId: string | null;
  readonly limit: number;
}

const UNKNOWN: Attribution = { appId: '', tokenId: null, installationId: null };

export function createCalls({ now, verb }: Store, prefix: string) {
  const callers = new WeakMap<Request, Attribution>();
  const header = versionHeader(prefix);
  let calls: CallShape[] = [];
  let lastId = 0;

  const note = verb(CALL, (call: CallShape) => {
    lastId = call.id;
    calls.push(call);
    if (calls.length > KEPT_CALLS + SPARE_CALLS) calls = calls.slice(-KEPT_CALLS);
  });

  function describe(req: Request, path: string, status: number): CallShape {
    const { appId, tokenId, installationId } = callers.get(req) ?? UNKNOWN;
    const version = req.get(header) ?? null;
    const who = { appId: appId === '' ? null : appId, installationId, tokenId };
    return { id: lastId + 1, at: now(), method: req.method, path, ...who, version, status };
  }

  return {
    /** Notes each call just before its answer leaves, so that whoever has the answer finds the note. */
    record: (req: Request, res: Response, next: NextFunction): void => {
      const { path } = req;
      const writeHead = res.writeHead.bind(res);
      Object.assign(res, {
        writeHead(...args: Parameters<typeof writeHead>) {
          note(describe(req, path, args[0]));
          return writeHead(...args);
        },
      });
      next();
    },
    attribute: (req: Request, who: Attribution) => void callers.set(req, who),
    list: ({ appId, installationId, limit }: CallFilter) =>
      calls
        .filter(call => appId === null || call.appId === appId)
        .filter(call => installationId === null || call.installationId === installationId)
        .slice(-limit)
        .toReversed(),
    countWithoutVersion: () => calls.filter(({ version }) => version === null).length,
  };
}
