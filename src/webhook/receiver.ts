import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { describeFailure, type StoredDelivery, type StoreFailure } from '../inbox/delivery.js';
import { REJECTION_REASONS, type RejectionReason } from '../inbox/rejected.js';
import { readBody } from './body.js';
import type { DeliverySummary, PostEnd, Post } from './posts.js';
import { PAGES, WEBHOOK_PATH } from './pages.js';
import { sendProblem } from './problem.js';
import { findPrefix, type Rejection } from './rejected.js';

export interface ReceiverOptions {
  /** The signature stands in the header `x-<prefix>-signature-256`. */
  readonly headerPrefix: string;
  /** A header by which this receiver is known to those who may read its inbox: a post gets none. */
  readonly known: Readonly<Record<string, string>>;
  /** Resolves with `stored` only once the delivery is on disk; rejects when that was not tried. */
  readonly accept: (post: Post) => Promise<PostEnd>;
  readonly now: () => number;
  /** Told of every answered POST, for logs and metrics. */
  readonly answered?: (answer: Answer) => void;
}

export interface Answer {
  readonly status: number;
  /** What was signed; null where the post was rejected before its signature was known to be good. */
  readonly delivery: DeliverySummary | null;
  /** Null unless the status is 202. */
  readonly stored: StoredDelivery | null;
  /** Null exactly where the status is 202. */
  readonly rejected: Rejection | null;
  /** The address that a rejected or duplicate post came from. */
  readonly sender: string | null;
  /** Why a delivery could not be stored; null unless the status is 503. */
  readonly failure: StoreFailure | null;
  /** From the last byte of the body to the answer; 0 where no body was read. */
  readonly tookMs: number;
}

const AGAIN = { 'retry-after': '5' };
const NOT_STORED = 'the delivery was not stored: send it again';

/** 512 of the largest posts, or many thousands of usual ones. */
const MAX_BYTES = 32 * 1024 * 1024;
const TOO_MANY = { code: 'too_many_waiting', message: 'too many posts are under way' };

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
  let bytes = 0;

  /**
   * Nothing is known of a post yet, and it costs memory until it has been verified:
   * however many connections are full of forged ones, they must not fill that.
   */
  async function admit(post: Post): Promise<PostEnd> {
    const { length } = post.body;
    if (bytes + length > MAX_BYTES) return { kind: 'failed', delivery: null, failure: TOO_MANY };
    bytes += length;
    try {
      return await accept(post);
    } catch (error) {
      return { kind: 'failed', delivery: null, failure: describeFailure(error) };
    } finally {
      bytes -= length;
    }
  }

  function told(answer: Partial<Answer> & { readonly status: number }): void {
    answered?.({
      delivery: null,
      stored: null,
      rejected: null,
      sender: null,
      failure: null,
      tookMs: 0,
      ...answer,
    });
  }

  function reject(exchange: Exchange, status: number, detail: string, more: Partial<Answer> = {}): void {
    const { headers, socket } = exchange.request;
    const prefix = findPrefix(headers, ownPrefix);
    const byHeader = prefix === ownPrefix ? 'signature_not_valid' : 'no_signature';
    const byStatus = REJECTION_REASONS.find(reason => REJECTION_STATUS[reason] === status);
    const reason = status === 401 ? byHeader : (byStatus ?? byHeader);
    sendProblem(exchange.response, status, detail, status === 503 ? AGAIN : {});
    const sender = socket.remoteAddress ?? null;
    told({ status, rejected: { reason, headerPrefix: prefix }, sender, ...more });
  }

  async function reply(exchange: Exchange, post: Post): Promise<void> {
    const outcome = await admit(post);
    const tookMs = now() - post.receivedAt;
    if (outcome.kind === 'rejected') return reject(exchange, outcome.status, outcome.detail, { tookMs });
    const { delivery } = outcome;
    if (outcome.kind === 'failed')
      return reject(exchange, 503, NOT_STORED, { tookMs, delivery, failure: outcome.failure });
    const { stored } = outcome;
    const sender = stored.isDuplicate ? (exchange.request.socket.remoteAddress ?? null) : null;
    exchange.response.statusCode = 202;
    exchange.response.end();
    told({ status: 202, delivery, stored, sender, tookMs });
  }

  return (request: Request, response: Response): void => {
    const exchange = { request, response };
    readBody(request, body => {
      if ('status' in body) return reject(exchange, body.status, body.detail);
      const header = request.headers[signatureHeader];
      const signature = typeof header === 'string' ? header : null;
      void reply(exchange, { body: body.bytes, signature, receivedAt: now() });
    });
  };
}

interface Exchange {
  readonly request: Request;
  readonly response: Response;
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

/** A path that cannot be decoded is the sender's fault; anything else is ours, and is not explained. */
const answerError: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  if (error instanceof URIError) sendProblem(response, 400, 'expected a path that can be decoded');
  else sendProblem(response, 500, 'this is a fault of the receiver');
};
