/**
 * The webhook receiver: an Express app that verifies a post, stores it and answers. It answers 202 only once the delivery is on
 * disk; it answers 503 if that fails, so that the registry sends the delivery again. Nothing else happens within a request, and
 * no answer explains a rejection in detail or repeats anything of an error.
 */
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import type { StoredDelivery, StoreFailure } from '../inbox/delivery.js';
import type { RejectionReason } from '../inbox/rejection.js';
import { readBody } from './body.js';
import { PAGES, WEBHOOK_PATH } from './visitor-pages.js';
import type { DeliverySummary, PostResult, WebhookPost } from './post-handler.js';
import { sendProblem } from './problem-response.js';
import { findSignaturePrefix, type Rejection } from './rejection-counter.js';

export interface ReceiverOptions {
  /** The signature is in the header `x-<prefix>-signature-256`. */
  readonly headerPrefix: string;
  /** Headers by which a process with access to the inbox recognizes this receiver. They are sent only with the status 405. */
  readonly identityHeaders: Readonly<Record<string, string>>;
  /** Resolves with `stored` only once the delivery is on disk; never rejects. */
  readonly accept: (post: WebhookPost) => Promise<PostResult>;
  readonly now: () => number;
  /** Called after each answered post, for logs and metrics. */
  readonly onAnswered?: (answer: ReceiverAnswer) => void;
}

/** How the receiver answered one post; for logs and metrics. */
export interface ReceiverAnswer {
  readonly status: number;
  /** The verified delivery; null if the post was rejected before its signature was verified. */
  readonly delivery: DeliverySummary | null;
  /** Null unless the status is 202. */
  readonly stored: StoredDelivery | null;
  /** Null if and only if the status is 202. */
  readonly rejection: Rejection | null;
  /** IP address of the sender. */
  readonly sender: string | null;
  /** Why the delivery could not be stored; null unless the status is 503. */
  readonly failure: StoreFailure | null;
  /** From the last byte of the body to the answer; 0 if no body was read. */
  readonly durationMs: number;
}

/** The HTTP status that a post gets for each rejection reason. */
export const STATUS_BY_REJECTION_REASON: Readonly<Record<RejectionReason, number>> = {
  signature_not_valid: 401,
  no_signature: 401,
  no_signed_text: 400,
  too_large: 413,
  wrong_content_type: 415,
  not_stored: 503,
};

const RETRY_AFTER = { 'retry-after': '5' };
const NOT_STORED = 'the delivery was not stored: send it again';

/** Creates the Express app of the webhook receiver. */
export function createReceiver(options: ReceiverOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.post(WEBHOOK_PATH, createWebhookHandler(options));
  app.all(WEBHOOK_PATH, (_request, response) => rejectMethod(response, 'POST', options.identityHeaders));
  for (const { path, send } of PAGES) {
    app.get(path, send);
    app.all(path, (_request, response) => rejectMethod(response, 'GET, HEAD'));
  }
  app.use((_request, response) => sendProblem(response, 404, 'there is nothing here'));
  app.use(answerError);
  return app;
}

/** Creates the handler of webhook posts, which passes each body to `accept` and answers the request. */
function createWebhookHandler({ headerPrefix, accept, now, onAnswered }: ReceiverOptions) {
  const ourPrefix = headerPrefix.toLowerCase();
  const signatureHeader = `x-${ourPrefix}-signature-256`;

  /** Reports to `onAnswered` how a post was answered, for logs and metrics. Omitted fields become null or 0. */
  function reportAnswer(
    { req }: Response,
    answer: Partial<ReceiverAnswer> & Pick<ReceiverAnswer, 'status'>,
  ): void {
    const sender = req.socket.remoteAddress ?? null;
    onAnswered?.({
      delivery: null,
      stored: null,
      rejection: null,
      sender,
      failure: null,
      durationMs: 0,
      ...answer,
    });
  }

  /**
   * Rejects a webhook post with the HTTP status for `reason`. Reports the answer to `onAnswered`, with the additional fields
   * in `facts`.
   */
  function rejectPost(
    response: Response,
    reason: RejectionReason,
    detail: string,
    facts: Partial<ReceiverAnswer> = {},
  ): void {
    const status = STATUS_BY_REJECTION_REASON[reason];
    sendProblem(response, status, detail, reason === 'not_stored' ? RETRY_AFTER : {});
    const rejection = { reason, headerPrefix: findSignaturePrefix(response.req.headers, ourPrefix) };
    reportAnswer(response, { status, rejection, ...facts });
  }

  /**
   * Passes a webhook post to `accept`, which verifies and stores it, and responds with the result. Reports the answer to
   * `onAnswered`.
   */
  async function handlePost(request: Request, response: Response, body: Uint8Array): Promise<void> {
    const header = request.headers[signatureHeader];
    const signature = typeof header === 'string' ? header : null;
    const receivedAt = now();
    const result = await accept({ body, signature, receivedAt });
    const durationMs = now() - receivedAt;
    if (result.kind === 'rejected') {
      const lacksSignature = result.reason === 'signature_not_valid' && header === undefined;
      return rejectPost(response, lacksSignature ? 'no_signature' : result.reason, result.detail, {
        durationMs,
      });
    }
    const { delivery } = result;
    if (result.kind === 'failed') {
      return rejectPost(response, 'not_stored', NOT_STORED, {
        durationMs,
        delivery,
        failure: result.failure,
      });
    }
    response.statusCode = 202;
    response.end();
    reportAnswer(response, { status: 202, delivery, stored: result.stored, durationMs });
  }

  return (request: Request, response: Response): void => {
    readBody(request, body => {
      if ('reason' in body) return rejectPost(response, body.reason, body.detail);
      void handlePost(request, response, body.bytes);
    });
  };
}

/** Answers 405 with the allowed methods. */
function rejectMethod(
  response: Response,
  allow: string,
  identityHeaders: ReceiverOptions['identityHeaders'] = {},
): void {
  sendProblem(response, 405, `expected ${allow}`, { allow, ...identityHeaders });
}

/** Answers 500 to an exception. It is always a fault of ours, so nothing about it is revealed. */
const answerError: ErrorRequestHandler = (_error, _request, response, _next) => {
  sendProblem(response, 500, 'the receiver failed unexpectedly');
};
