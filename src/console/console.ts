import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { type CreateConsoleActions, addActionRoutes } from './actions/action-routes.js';
import {
  type Responder,
  chooseTheme,
  createResponder,
  readFormBody,
  COULD_NOT_BE_CREATED,
  sendText,
} from './responder.js';
import type { SqlAccess } from './sql/sql-runner.js';
import { addSqlRoutes } from './sql/sql-routes.js';
import { addCertificateRoute } from './certificate-route.js';
import { type DemoAction, addDemoRoutes } from './demo/demo-page.js';
import { checkPageToken, createGuard, type GuardOptions } from './guard/guard.js';
import type { LiveUpdates } from './live/live-updates.js';
import { SCRIPT } from './live/page-script.js';
import type { CertificateFileAccess, PageEnvironment } from './page.js';
import { CONFIRMATION } from './orders/confirmation-page.js';
import { addOrderRoutes } from './orders/order-routes.js';
import { createPageHandler } from './page-route.js';
import { createPages } from './pages/all-pages.js';
import type { ReaderPool } from './reader-pool.js';
import { STYLE } from './components/style.js';

export interface ConsoleOptions extends GuardOptions, PageEnvironment {
  readonly readers: ReaderPool;
  readonly now: () => number;
  readonly liveUpdates: LiveUpdates;
  /** Null if the console is read-only. */
  readonly actions: CreateConsoleActions | null;
  /** Whether visitors who may act can place orders. Without it, there are no forms and no route for them. */
  readonly allowsOrders: boolean;
  readonly sql: SqlAccess;
  readonly certificateFiles: CertificateFileAccess;
  /** Actions on the sandbox registry; null outside a demo. */
  readonly demoActions: readonly DemoAction[] | null;
  /** Reports an unexpected error. The visitor sees a general sentence only. */
  readonly onFailure: (error: unknown) => void;
}

/** Creates the Express app of the web console: pages, downloads, SQL queries and live updates. */
export function createConsole(options: ConsoleOptions): Express {
  const { readers, now, liveUpdates, onFailure, actions, sql, demoActions, certificateFiles } = options;
  const allowsOrders = options.allowsOrders && actions !== null;
  const { webhookUrl, version, comparison, findContradictedColumns, describeCheckpoint } = options;
  const isDemo = demoActions !== null;
  const responder = createResponder({ hasDemo: isDemo, onFailure });
  const pageOptions = {
    environment: { webhookUrl, version, comparison, findContradictedColumns, describeCheckpoint },
    readers,
    responder,
    certificateFiles,
    canAct: actions !== null,
    allowsOrders,
    isDemo,
    now,
  };
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  // The guard runs before every route below.
  app.use(createGuard(options));
  app.post('/{*path}', readFormBody, checkPageToken);
  app.get('/console.css', (request, response) => sendText(request, response.type('css'), STYLE));
  app.get('/console.js', (_request, response) => void response.type('js').send(SCRIPT));
  app.post('/theme', chooseTheme);
  app.get('/live', (_request, response) => liveUpdates.subscribe(response));
  app.get(CONFIRMATION.path, createPageHandler(CONFIRMATION, pageOptions));
  // Pages must never write to the mirror or call the registry. Buttons only queue jobs for the worker.
  for (const page of createPages()) app.get(page.path, createPageHandler(page, pageOptions));
  addCertificateRoute(app, readers, certificateFiles, responder);
  addSqlRoutes(app, sql, responder, now);
  if (demoActions !== null) addDemoRoutes(app, { actions: demoActions, readers, now, responder });
  if (actions !== null) addActionRoutes(app, readers, actions, responder);
  if (allowsOrders && actions !== null) addOrderRoutes(app, readers, actions, responder);
  app.use(async (request: Request, response: Response) => {
    await responder.sendMessage(request, response, 404, 'Page not found.');
  });
  app.use(createErrorHandler(responder, onFailure));
  return app;
}

/** Creates the Express error handler. Errors other than bad requests are reported and answered with status 500. */
function createErrorHandler(
  responder: Responder,
  onFailure: ConsoleOptions['onFailure'],
): ErrorRequestHandler {
  return async (error: unknown, request, response, _next) => {
    if (response.destroyed) return;
    const refusal = describeBadRequest(error);
    if (refusal !== null && !response.headersSent) {
      await responder.sendMessage(request, response, refusal.status, refusal.text);
      return;
    }
    onFailure(error);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    await responder.sendMessage(request, response, 500, `This page ${COULD_NOT_BE_CREATED}`);
  };
}

/** Returns the 4xx status and the message for a bad request. Returns null for any other error. */
function describeBadRequest(error: unknown): { readonly status: number; readonly text: string } | null {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 0;
  if (!(status >= 400 && status < 500)) return null;
  const text = status === 413 ? 'The request is too large.' : 'The request could not be read.';
  return { status, text };
}
