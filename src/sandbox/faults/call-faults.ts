import type { NextFunction, Request, Response } from 'express';
import { useSandboxClockOnly } from '../http/app-jwt.js';
import { toErrorBody } from '../http/errors.js';
import { type PagingDistortion, distortPaging } from '../http/paging.js';
import { distortResponse } from './distort-response.js';
import type { CallFault, FaultOptions } from '../faults/fault-kinds.js';

/** A fault that applies to a call. */
export interface ActiveFault {
  readonly kind: CallFault;
  readonly options: FaultOptions;
  /** How many calls it was applied to before this one. */
  readonly hits: number;
}

/** The arguments of an Express middleware. */
export interface HttpExchange {
  readonly req: Request;
  readonly res: Response;
  readonly next: NextFunction;
}

type CallFaultHandler = (fault: ActiveFault, exchange: HttpExchange) => void;

/** `rowsAppear` hides this many times its `rows` at the first call, and one time fewer at each further call. */
const CALLS_UNTIL_COMPLETE = 5;

const HANDLERS: Readonly<Record<CallFault, CallFaultHandler>> = {
  status: ({ options }, { res }) => answerStatus(res, options),
  silence: () => undefined,
  hangup: (_fault, { req }) => req.socket.destroy(),
  endless: (_fault, { res }) => streamWithoutEnd(res),
  html: ({ options: { status = 200 } }, { res }) =>
    res.status(status).type('html').send('<!doctype html><title>Maintenance</title><p>Back soon.'),
  redirect: ({ options: { status = 302, location = 'http://169.254.169.254/' } }, { res }) =>
    res.redirect(status, location),
  wrongShape: ({ options: { status = 200, body = { unexpected: true } } }, { res }) =>
    res.status(status).json(body),
  slow: distortAnswer,
  delay: distortAnswer,
  cut: distortAnswer,
  overrideObjects: distortAnswer,
  pageLoop: distortLists(() => ({ repeatsFirstPage: true })),
  pageSize: distortLists(rows => ({ maxPageSize: rows })),
  pageLimit: refuseLimit,
  rowsAppear: distortLists((rows, hits) => ({ hiddenRows: rows * Math.max(0, CALLS_UNTIL_COMPLETE - hits) })),
  rowsDisappear: distortLists((rows, hits) => ({ hiddenRows: rows * hits })),
  clock: (_fault, { res, next }) => {
    useSandboxClockOnly(res);
    next();
  },
};

/** Applies a fault to a call: answers it, distorts its answer, or never answers. */
export function applyCallFault(fault: ActiveFault, exchange: HttpExchange): void {
  HANDLERS[fault.kind](fault, exchange);
}

/** Carries out the call, but delays, slows, changes or cuts its answer. */
function distortAnswer({ kind, options }: ActiveFault, { res, next }: HttpExchange): void {
  distortResponse({ kind, options }, res);
  next();
}

/** Creates the handler of a fault that carries out the call with distorted lists. */
function distortLists(distort: (rows: number, hits: number) => Partial<PagingDistortion>): CallFaultHandler {
  return ({ options: { rows = 1 }, hits }, { res, next }) => {
    distortPaging(res, distort(rows, hits));
    next();
  };
}

/** Answers with the fault's status instead of carrying out the call. */
function answerStatus(res: Response, { status = 503, retryAfter, body }: FaultOptions): void {
  if (retryAfter !== undefined) res.set('Retry-After', String(retryAfter));
  res.status(status).json(body ?? toErrorBody(status, 'Scripted by the sandbox'));
}

/** Answers an error if the caller requests more rows per page than the fault allows. */
function refuseLimit(
  { options: { rows = 1, status = 400, body } }: ActiveFault,
  { req, res, next }: HttpExchange,
): void {
  if (Number(req.query['limit'] ?? 0) <= rows) next();
  else res.status(status).json(body ?? toErrorBody(status, `limit must not be greater than ${rows}`));
}

/** Sends JSON that never ends, as fast as the caller reads it. */
function streamWithoutEnd(res: Response): void {
  res.type('json').write('{"credits":[');
  const filler = `${'{"id":"filler"},'.repeat(4096)}\n`;
  const writeUntilFull = () => {
    while (!res.destroyed && res.write(filler));
  };
  res.on('drain', writeUntilFull);
  writeUntilFull();
}
