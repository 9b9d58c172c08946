import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import type { StoredDelivery, StoreFailure } from '../inbox/delivery.js';
import { REJECTION_REASONS, type RejectionReason } from '../inbox/rejected.js';
import { readBody } from './body.js';
import type { DeliverySummary, PostEnd, WebhookPost } from './posts.js';
import { PAGES, WEBHOOK_PATH } from './pages.js';
import { sendProblem } from './problem.js';
import { findPrefix, type Rejection } from './rejected.js';

export interface ReceiverOptions {
  /** The signature stands in the header `x-<prefix>-signature-256`. */
  readonly headerPrefix: string;
  /** A header by which this receiver is known to those who may read its inbox: a post gets none. */
  readonly known: Readonly<Record<string, string>>;
  /** Resolves with `stored` only once the delivery is on disk; never rejects. */
  readonly accept: (post: WebhookPost) => Promise<PostEnd>;
  readonly now: () => number;
  /** Told of every answered POST, for logs and metrics. */
  readonly answered?: (answer: ReceiverAnswer) => void;
}

export interface ReceiverAnswer {
  readonly status: number;
  /** What was signed; null where the post was rejected before its signature was known to be good. */
  readonly delivery: DeliverySummary | null;
  /** Null unless the status is 202. */
  readonly stored: StoredDelivery | null;
  /** Null exactly where the status is 202. */
  readonly rejected: Rejection | null;
  readonly sender: string | null;
  /** Why a delivery could not be stored; null unless the status is 503. */
  readonly failure: StoreFailure | null;
  /** From the last byte of the body to the answer; 0 where no body was read. */
  readonly tookMs: number;
}

const AGAIN = { 'retry-after': '5' };
const NOT_STORED = 'the delivery was not stored: send it again';

/** The receiver: verify, store, answer. Nothing else happens within a request. */
export function createReceiver(options: ReceiverOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.post(WEBHOOK_PATH, createHandler(options));
  app.all(WEBHOOK_PATH, (_request, response) => rejectMethod(response, 'POST', options.known));
  for (const { path, send } of PAGES) {
    app.get(path, send);
    app.all(path, (_request, response) => rejectMethod(response, 'GET, HEAD'));
  }
  app.use((_request, response) => sendProblem(response, 404, 'there is nothing here'));
  app.use(answerError);
  return app;
}

function createHandler({ headerPrefix, accept, now, answered }: ReceiverOptions) {
  const ownPrefix = headerPrefix.toLowerCase();
  const signatureHeader = `x-${ownPrefix}-signature-256`;

  function tell({ req }: Response, answer: Partial<ReceiverAnswer> & Pick<ReceiverAnswer, 'status'>): void {
    const sender = req.socket.remoteAddress ?? null;
    answered?.({ delivery: null, stored: null, rejected: null, sender, failure: null, tookMs: 0, ...answer });
  }

  function reject(
    response: Response,
    status: number,
    detail: string,
    more: Partial<ReceiverAnswer> = {},
  ): void {
    const prefix = findPrefix(response.req.headers, ownPrefix);
    const byHeader = prefix === ownPrefix ? 'signature_not_valid' : 'no_signature';
    const byStatus = REJECTION_REASONS.find(reason => REJECTION_STATUS[reason] === status);
    const reason = status === 401 ? byHeader : (byStatus ?? byHeader);
    sendProblem(response, status, detail, status === 503 ? AGAIN : {});
    tell(response, { status, rejected: { reason, headerPrefix: prefix }, ...more });
  }

  async function reply(response: Response, post: WebhookPost): Promise<void> {
    const end = await accept(post);
    const tookMs = now() - post.receivedAt;
    if (end.kind === 'rejected') return reject(response, end.status, end.detail, { tookMs });
    const { delivery } = end;
    if (end.kind === 'failed')
      return reject(response, 503, NOT_STORED, { tookMs, delivery, failure: end.failure });
    response.statusCode = 202;
    response.end();
    tell(response, { status: 202, delivery, stored: end.stored, tookMs });
  }

  return (request: Request, response: Response): void => {
    readBody(request, body => {
      if ('status' in body) return reject(response, body.status, body.detail);
      const header = request.headers[signatureHeader];
      const signature = typeof header === 'string' ? header : null;
      void reply(response, { body: body.bytes, signature, receivedAt: now() });
    });
  };
}

/** How a post is rejected for each reason. */
export const REJECTION_STATUS: Readonly<Record<RejectionReason, number>> = {
  signature_not_valid: 401,
  no_signature: 401,
  no_signed_text: 400,
  too_large: 413,
  wrong_content_type: 415,
  not_stored: 503,
};

function rejectMethod(response: Response, allow: string, known: ReceiverOptions['known'] = {}): void {
  sendProblem(response, 405, `expected ${allow}`, { allow, ...known });
}

/** What is thrown is our fault, and is not explained. */
const answerError: ErrorRequestHandler = (_error, _request, response, _next) => {
  sendProblem(response, 500, 'this is a fault of the receiver');
};
