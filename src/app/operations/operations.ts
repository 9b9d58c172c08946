import express, { type ErrorRequestHandler, type Express, type Response } from 'express';
import { type HealthCheck, runHealthChecks } from './health-checks.js';
import { findRequestRefusal } from './cross-site.js';
import { sendProblem } from '../../webhook/problem.js';

export interface OperationsOptions {
  /** What must hold for the process to be left running. */
  readonly live: Readonly<Record<string, HealthCheck>>;
  /** What must hold for it to be given work: never the health of the registry, or one outage there would stop all of ours. */
  readonly ready: Readonly<Record<string, HealthCheck>>;
  readonly metrics: { readonly renderText: () => Promise<string>; readonly contentType: string };
  /** Whether only this machine can call. */
  readonly isOnLoopback: () => boolean;
  /** A check that takes longer has failed. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 2000;

/** What a supervisor and a monitor ask, on a listener of its own that the internet never sees. */
export function createOperationsApp({
  live,
  ready,
  metrics,
  isOnLoopback: onLoopback,
  deadlineMs = DEADLINE_MS,
}: OperationsOptions): Express {
  const isLive = shared(() => runHealthChecks(live, deadlineMs));
  const isReady = shared(() => runHealthChecks(ready, deadlineMs));
  const measure = shared(() => metrics.renderText());
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((request, response, next) => {
    response.setHeader('cache-control', 'no-store');
    const foreign = findRequestRefusal(request.headers, onLoopback());
    if (foreign === null) return next();
    return sendProblem(response, foreign.status, foreign.detail);
  });
  app.get('/livez', async (_request, response) => answerChecks(response, await isLive()));
  app.get('/readyz', async (_request, response) => answerChecks(response, await isReady()));
  app.get('/metrics', async (_request, response) => {
    const text = await measure().catch(() => null);
    if (text === null) return sendProblem(response, 500, 'the metrics could not be read');
    response.setHeader('content-type', metrics.contentType);
    response.end(text);
    return undefined;
  });
  app.all(['/livez', '/readyz', '/metrics'], (_request, response) => {
    response.setHeader('allow', 'GET, HEAD');
    sendProblem(response, 405, 'expected GET');
  });
  app.use((_request, response) => sendProblem(response, 404, 'there are /livez, /readyz and /metrics'));
  app.use(answerError);
  return app;
}

/** Express itself would show the stack. */
const answerError: ErrorRequestHandler = (_error: unknown, _request, response, _next) => {
  sendProblem(response, 500, 'this is a fault of the program');
};

/** Whoever asks while an answer is made gets that one. */
function shared<T>(make: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | null = null;
  return () => {
    underWay ??= make().finally(() => {
      underWay = null;
    });
    return underWay;
  };
}

function answerChecks(response: Response, results: Readonly<Record<string, string>>): void {
  const failed = Object.entries(results).filter(([, result]) => result !== 'ok');
  if (failed.length > 0) {
    const detail = failed.map(([name, result]) => `${name}: ${result}`).join('; ');
    sendProblem(response, 503, detail, {}, { checks: results });
    return;
  }
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ status: 'ok', checks: results }));
}
