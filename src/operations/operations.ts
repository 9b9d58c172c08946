import express, { type ErrorRequestHandler, type Express, type Response } from 'express';
import { type Check, runChecks } from './checks.js';
import { sendProblem } from './problem.js';

export interface OperationsOptions {
  /** What must hold for the process to be left running. */
  readonly live: Readonly<Record<string, Check>>;
  /** What must hold for it to be given work: never the health of the registry, or one outage there would stop all of ours. */
  readonly ready: Readonly<Record<string, Check>>;
  readonly metrics: { readonly text: () => Promise<string>; readonly contentType: string };
  /** A check that takes longer has failed. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 2000;

/** What a supervisor and a monitor ask, on a listener of its own that the internet never sees. */
export function createOperations({
  live,
  ready,
  metrics,
  deadlineMs = DEADLINE_MS,
}: OperationsOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((_request, response, next) => {
    response.setHeader('cache-control', 'no-store');
    next();
  });
  app.get('/livez', (_request, response) => answerChecks(response, live, deadlineMs));
  app.get('/readyz', (_request, response) => answerChecks(response, ready, deadlineMs));
  app.get('/metrics', async (_request, response) => {
    const text = await metrics.text().catch(() => null);
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

async function answerChecks(
  response: Response,
  checks: Readonly<Record<string, Check>>,
  deadlineMs: number,
): Promise<void> {
  const results = await runChecks(checks, deadlineMs);
  const failed = Object.entries(results).filter(([, result]) => result !== 'ok');
  if (failed.length > 0) {
    const detail = failed.map(([name, result]) => `${name}: ${result}`).join('; ');
    sendProblem(response, 503, detail, { checks: results });
    return;
  }
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ status: 'ok', checks: results }));
}
