import type { NextFunction, Request, Response } from 'express';
import { trustOwnClock } from '../http/app-jwt.js';
import { errorBody } from '../http/errors.js';
import { type Bend, bendLists } from '../http/pages.js';
import { troubleAnswer } from './held-answer.js';
import type { CallFault, FaultOptions } from './kinds.js';

export interface Fault {
  readonly kind: CallFault;
  readonly options: FaultOptions;
  /** How often it has struck before. */
  readonly hits: number;
}

export interface Exchange {
  readonly req: Request;
  readonly res: Response;
  readonly next: NextFunction;
}

type Misbehaviour = (fault: Fault, exchange: Exchange) => void;

/** Rows that come late are hidden at first, one call's worth fewer each time, until all are there. */
const LATE_CALLS = 5;

const MISBEHAVIOURS: Readonly<Record<CallFault, Misbehaviour>> = {
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
  slow: holdBack,
  delay: holdBack,
  cut: holdBack,
  says: holdBack,
  pageLoop: bend(() => ({ loops: true })),
  pageSize: bend(rows => ({ mostRows: rows })),
  pageLimit: refuseLimit,
  rowsAppear: bend((rows, hits) => ({ hidden: rows * Math.max(0, LATE_CALLS - hits) })),
  rowsDisappear: bend((rows, hits) => ({ hidden: rows * hits })),
  clock: (_fault, { res, next }) => {
    trustOwnClock(res);
    next();
  },
};

export function commitFault(fault: Fault, exchange: Exchange): void {
  MISBEHAVIOURS[fault.kind](fault, exchange);
}

function holdBack({ kind, options }: Fault, { res, next }: Exchange): void {
  troubleAnswer({ kind, options }, res);
  next();
}

function bend(how: (rows: number, hits: number) => Partial<Bend>): Misbehaviour {
  return ({ options: { rows = 1 }, hits }, { res, next }) => {
    bendLists(res, how(rows, hits));
    next();
  };
}

function answerStatus(res: Response, { status = 503, retryAfter, body }: FaultOptions): void {
  if (retryAfter !== undefined) res.set('Retry-After', String(retryAfter));
  res.status(status).json(body ?? errorBody(status, 'Scripted by the sandbox'));
}

function refuseLimit(
  { options: { rows = 1, status = 400, body } }: Fault,
  { req, res, next }: Exchange,
): void {
  if (Number(req.query['limit'] ?? 0) <= rows) next();
  else res.status(status).json(body ?? errorBody(status, `limit must not be greater than ${rows}`));
}

function streamWithoutEnd(res: Response): void {
  res.type('json').write('{"credits":[');
  const filler = `${'{"id":"filler"},'.repeat(4096)}\n`;
  const pour = () => {
    while (!res.destroyed && res.write(filler));
  };
  res.on('drain', pour);
  pour();
}
