/**
 * The endpoints for supervisors and monitors: /livez, /readyz and /metrics. They are on a listener of their own, which must not
 * be reachable from the internet. Pages of other sites are refused, and no answer contains details of an error.
 */
import express, { type ErrorRequestHandler, type Express, type Response } from 'express';
import { findCrossSiteRefusal } from './cross-site-requests.js';
import { type HealthCheck, runHealthChecks } from './health-checks.js';
import { sendProblem } from '../../webhook/problem-response.js';

export interface OperationsOptions {
  /** Checks of /livez: if one fails, the process should be restarted. */
  readonly live: Readonly<Record<string, HealthCheck>>;
  /** Checks of /readyz: if one fails, the process should get no traffic. Never the registry: its outage would stop us as well. */
  readonly ready: Readonly<Record<string, HealthCheck>>;
  readonly metrics: { readonly renderText: () => Promise<string>; readonly contentType: string };
  /** Whether the listener is reachable from this machine only. */
  readonly isOnLoopback: () => boolean;
  /** A check that takes longer fails. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 2000;

/** Creates the Express app that serves /livez, /readyz and /metrics. */
export function createOperationsApp({
  live,
  ready,
  metrics,
  isOnLoopback,
  deadlineMs = DEADLINE_MS,
}: OperationsOptions): Express {
  const checkLive = shareConcurrentCalls(() => runHealthChecks(live, deadlineMs));
  const checkReady = shareConcurrentCalls(() => runHealthChecks(ready, deadlineMs));
  const renderMetrics = shareConcurrentCalls(() => metrics.renderText());
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((request, response, next) => {
    response.setHeader('cache-control', 'no-store');
    const refusal = findCrossSiteRefusal(request.headers, isOnLoopback());
    if (refusal === null) return next();
    return sendProblem(response, refusal.status, refusal.detail);
  });
  app.get('/livez', async (_request, response) => sendCheckResults(response, await checkLive()));
  app.get('/readyz', async (_request, response) => sendCheckResults(response, await checkReady()));
  app.get('/metrics', async (_request, response) => {
    const text = await renderMetrics().catch(() => null);
    if (text === null) return sendProblem(response, 500, 'the metrics could not be read');
    response.setHeader('content-type', metrics.contentType);
    response.end(text);
    return undefined;
  });
  app.all(['/livez', '/readyz', '/metrics'], (_request, response) => {
    response.setHeader('allow', 'GET, HEAD');
    sendProblem(response, 405, 'expected GET');
  });
  app.use((_request, response) => sendProblem(response, 404, 'expected /livez, /readyz or /metrics'));
  app.use(sendInternalError);
  return app;
}

/** Replaces the error handler of Express, which would show the stack. */
const sendInternalError: ErrorRequestHandler = (_error: unknown, _request, response, _next) => {
  sendProblem(response, 500, 'internal error');
};

/** Wraps an async function so that a call while another one is pending returns the promise of the pending call. */
function shareConcurrentCalls<T>(run: () => Promise<T>): () => Promise<T> {
  let currentRun: Promise<T> | null = null;
  return () => {
    currentRun ??= run().finally(() => {
      currentRun = null;
    });
    return currentRun;
  };
}

/** Sends the results of health checks, with status 200 if all are "ok" and 503 otherwise. */
function sendCheckResults(response: Response, results: Readonly<Record<string, string>>): void {
  const failed = Object.entries(results).filter(([, result]) => result !== 'ok');
  if (failed.length > 0) {
    const detail = failed.map(([name, result]) => `${name}: ${result}`).join('; ');
    sendProblem(response, 503, detail, {}, { checks: results });
    return;
  }
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ status: 'ok', checks: results }));
}
