import type { NextFunction, Request, Response } from 'express';
import { errorBody } from '../http/errors.js';
import { bendList } from './bent-lists.js';
import { holdAnswer } from './held-answer.js';

/** What a fault may be told; each kind reads its own part. */
export interface FaultOptions {
  readonly status?: number;
  readonly retryAfter?: string | number;
  readonly body?: unknown;
  readonly location?: string;
  readonly bytes?: number;
  /** `cut`: ends as if that were all, with a Content-Length that fits. */
  readonly cleanEnd?: boolean;
  readonly intervalMs?: number;
  readonly delayMs?: number;
  /** `rowsAppear`, `rowsDisappear`: so many rows a call. `pageSize`, `pageLimit`: the most rows a page holds. */
  readonly rows?: number;
}

/**
 * `slow`, `cut` and `delay` let the registry do its work first: the caller loses the answer, not the deed.
 * `hangup`, `silence`, `status`, `html`, `redirect`, `wrongShape` and `endless` do nothing else,
 * nor does `pageLimit` where more rows are asked for than it allows.
 */
export type FaultKind =
  | 'status'
  | 'silence'
  | 'slow'
  | 'cut'
  | 'hangup'
  | 'endless'
  | 'html'
  | 'redirect'
  | 'wrongShape'
  | 'delay'
  | 'pageLoop'
  | 'pageSize'
  | 'pageLimit'
  | 'rowsAppear'
  | 'rowsDisappear';

export interface Fault {
  readonly kind: FaultKind;
  readonly options: FaultOptions;
  /** How often it has struck before. */
  readonly hits: number;
}

export interface Exchange {
  readonly req: Request;
  readonly res: Response;
  readonly next: NextFunction;
}

export function commitFault(fault: Fault, exchange: Exchange): void {
  const { kind, options } = fault;
  const { req, res, next } = exchange;
  switch (kind) {
    case 'status':
      answerStatus(res, options);
      return;
    case 'silence':
      return;
    case 'hangup':
      req.socket.destroy();
      return;
    case 'endless':
      streamWithoutEnd(res);
      return;
    case 'html':
      res
        .status(options.status ?? 200)
        .type('html')
        .send('<!doctype html><title>Maintenance</title><p>Back soon.');
      return;
    case 'redirect':
      res.redirect(options.status ?? 302, options.location ?? 'http://169.254.169.254/');
      return;
    case 'wrongShape':
      res.status(options.status ?? 200).json(options.body ?? { unexpected: true });
      return;
    case 'slow':
    case 'cut':
    case 'delay':
      holdAnswer({ kind, options }, res);
      next();
      return;
    case 'pageLimit':
      if (refuseLimit(exchange, options)) return;
      next();
      return;
    case 'pageLoop':
    case 'pageSize':
    case 'rowsAppear':
    case 'rowsDisappear':
      bendList({ kind, rows: options.rows, hits: fault.hits }, exchange);
      next();
      return;
  }
}

function answerStatus(res: Response, { status = 503, retryAfter, body }: FaultOptions): void {
  if (retryAfter !== undefined) res.set('Retry-After', String(retryAfter));
  res.status(status).json(body ?? errorBody(status, 'Scripted by the sandbox'));
}

function refuseLimit({ req, res }: Exchange, { rows = 1, status = 400, body }: FaultOptions): boolean {
  if (Number(req.query['limit'] ?? 0) <= rows) return false;
  res.status(status).json(body ?? errorBody(status, `limit must not be greater than ${rows}`));
  return true;
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
