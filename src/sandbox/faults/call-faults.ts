import type { NextFunction, Request, Response } from 'express';
import { restrictJwtToSandboxClock } from '../http/app-jwt.js';
import { toErrorBody } from '../http/api-errors.js';
import { type PagingDistortion, distortPaging } from '../http/paging.js';
import { distortResponse } from './distort-response.js';
import type { CallFault, FaultOptions } from '../faults/fault-kinds.js';

/** A fault to apply to a request. */
export interface ActiveFault {
  readonly kind: CallFault;
  readonly options: FaultOptions;
  /** The number of earlier requests that the fault was applied to. */
  readonly hits: number;
}

/** The arguments of an Express middleware. */
export interface HttpExchange {
  readonly req: Request;
  readonly res: Response;
  readonly next: NextFunction;
}

/** Applies one kind of fault to a request. */
type CallFaultHandler = (fault: ActiveFault, exchange: HttpExchange) => void;

/**
 * The number of requests after which `rowsAppear` shows all rows. Each of these requests shows `rows` more than the one
 * before.
 */
const CALLS_UNTIL_COMPLETE = 5;

const HANDLERS: Readonly<Record<CallFault, CallFaultHandler>> = {
  status: ({ options }, { res }) => answerWithStatus(res, options),
  silence: () => undefined,
  hangup: (_fault, { req }) => req.socket.destroy(),
  endless: (_fault, { res }) => streamEndlessJson(res),
  html: ({ options: { status = 200 } }, { res }) =>
    res.status(status).type('html').send('<!doctype html><title>Maintenance</title><p>Back soon.'),
  redirect: ({ options: { status = 302, location = 'http://169.254.169.254/' } }, { res }) =>
    res.redirect(status, location),
  wrongShape: ({ options: { status = 200, body = { unexpected: true } } }, { res }) =>
    res.status(status).json(body),
  slow: distortRegistryResponse,
  delay: distortRegistryResponse,
  cut: distortRegistryResponse,
  overrideObjects: distortRegistryResponse,
  pageLoop: createListDistorter(() => ({ repeatsFirstPage: true })),
  pageSize: createListDistorter(rows => ({ maxPageSize: rows })),
  pageLimit: refuseLargePage,
  rowsAppear: createListDistorter((rows, hits) => ({
    hiddenRows: rows * Math.max(0, CALLS_UNTIL_COMPLETE - hits),
  })),
  rowsDisappear: createListDistorter((rows, hits) => ({ hiddenRows: rows * hits })),
  clock: (_fault, { res, next }) => {
    restrictJwtToSandboxClock(res);
    next();
  },
};

/** Applies a simulated fault to a request: answers the request or distorts its response. */
export function applyCallFault(fault: ActiveFault, exchange: HttpExchange): void {
  HANDLERS[fault.kind](fault, exchange);
}

/** Passes the request to the registry, and delays, slows, changes or truncates the response. */
function distortRegistryResponse({ kind, options }: ActiveFault, { res, next }: HttpExchange): void {
  distortResponse({ kind, options }, res);
  next();
}

/**
 * Creates the handler of a fault that distorts paginated lists. `getDistortion` gets the fault's option `rows` and the number of
 * earlier requests that the fault was applied to.
 */
function createListDistorter(
  getDistortion: (rows: number, hits: number) => Partial<PagingDistortion>,
): CallFaultHandler {
  return ({ options: { rows = 1 }, hits }, { res, next }) => {
    distortPaging(res, getDistortion(rows, hits));
    next();
  };
}

/** Answers a request with an error status, by default 503, instead of passing it to the registry. */
function answerWithStatus(res: Response, { status = 503, retryAfter, body }: FaultOptions): void {
  if (retryAfter !== undefined) res.set('Retry-After', String(retryAfter));
  res.status(status).json(body ?? toErrorBody(status, 'Scripted by the sandbox'));
}

/**
 * Answers with an error, by default 400, if the request's `limit` is larger than the fault's option `rows`. Otherwise passes the
 * request on.
 */
function refuseLargePage(
  { options: { rows = 1, status = 400, body } }: ActiveFault,
  { req, res, next }: HttpExchange,
): void {
  if (Number(req.query['limit'] ?? 0) <= rows) next();
  else res.status(status).json(body ?? toErrorBody(status, `limit must not be greater than ${rows}`));
}

/** Streams JSON text until the client disconnects. Pauses while the client reads too slowly. */
function streamEndlessJson(res: Response): void {
  res.type('json').write('{"credits":[');
  const filler = `${'{"id":"filler"},'.repeat(4096)}\n`;
  const writeUntilFull = () => {
    while (!res.destroyed && res.write(filler));
  };
  res.on('drain', writeUntilFull);
  writeUntilFull();
}
