import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { type ConsoleActions, addActionRoutes } from './actions/actions.js';
import {
  chooseTheme,
  createResponder,
  readFormBody,
  COULD_NOT_BE_CREATED,
  createMessagePage,
  getPathParameters,
  sendText,
} from './responder.js';
import type { SqlAccess } from './ask/query-runner.js';
import { addQueryRoutes } from './ask/routes.js';
import { addCertificateRoute } from './certificate-route.js';
import { type DemoAction, addDemoRoutes } from './demo/demo.js';
import { createGuard, type GuardOptions, ORIGIN } from './guard/guard.js';
import type { LiveUpdates } from './live/updates.js';
import { SCRIPT } from './live/script.js';
import type { PageFault, ConsolePage, CertificateFileAccess, PageEnvironment } from './page.js';
import { createPages } from './pages/pages.js';
import type { ReaderPool } from './reader-pool.js';
import { AS_OF, withQuery } from './components/as-of.js';
import { parseTimeRange } from '../text/time-range.js';
import { STYLE } from './components/style.js';

export interface ConsoleOptions extends GuardOptions, PageEnvironment {
  readonly readers: ReaderPool;
  readonly now: () => number;
  readonly changes: LiveUpdates;
  /** Null if the console is read-only. */
  readonly actions: ConsoleActions | null;
  readonly asking: SqlAccess;
  readonly pdfs: CertificateFileAccess;
  /** Actions on the sandbox registry; null outside a demo. */
  readonly demoActions: readonly DemoAction[] | null;
  /** Reports an unexpected error. The visitor sees a general sentence only. */
  readonly failed: (error: unknown) => void;
}

/** Creates the HTTP app of the console: read-only pages over the mirror, and forms that queue work for a worker.
 * The guard checks every request first. Pages escape all data, and neither write to the mirror nor call the registry. */
export function createConsole(options: ConsoleOptions): Express {
  const { readers, now, changes, failed, actions, asking, demoActions, pdfs } = options;
  const { webhookUrl, version, comparison, contradicted, sealedIn } = options;
  const [canAct, isDemo] = [actions !== null, demoActions !== null];
  const shared = { webhookUrl, version, comparison, contradicted, sealedIn, canAct, isDemo };
  const responder = createResponder({ hasDemo: isDemo, failed });
  const refuse = (request: Request, response: Response, status: number, says: string) =>
    responder.page(request, response, createMessagePage(status === 404 ? 'Not found' : 'Error', says), {
      status,
    });
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  app.use(createGuard(options));
  app.get('/console.css', (request, response) => sendText(request, response.type('css'), STYLE));
  app.get('/console.js', (_request, response) => void response.type('js').send(SCRIPT));
  app.post('/theme', readFormBody, chooseTheme);
  app.get('/live', (_request, response) => changes.follow(response));
  for (const page of createPages()) {
    app.get(page.path, async (request: Request, response: Response) => {
      const { searchParams: query } = new URL(request.url, ORIGIN);
      const hasHistory = page.hasHistory === true;
      const asked =
        findUnknownParameter(query, page) ??
        findNulCharacter(request, query) ??
        (hasHistory ? parseInstant(query, now()) : { at: null });
      if ('fault' in asked) return await refuse(request, response, 400, asked.fault);
      const { at } = asked;
      if (at !== null && query.get(AS_OF) !== at && !IS_FILE.test(request.path))
        return response.redirect(303, withQuery(request.path, query, { [AS_OF]: at }));
      await readers.use(async reader => {
        if (response.destroyed) return;
        const ask = {
          ...shared,
          reader,
          now: now(),
          query,
          at,
          inspect: pdfs.inspect,
          params: getPathParameters(request),
          origin: `${request.protocol}://${request.headers.host ?? ''}`,
        };
        const shown = await page.render(ask);
        if ('location' in shown) response.redirect(303, shown.location);
        else if ('missing' in shown) await refuse(request, response, 404, shown.missing);
        else if ('fault' in shown) await refuse(request, response, 400, shown.fault);
        else if ('text' in shown) await responder.rows(response, shown);
        else
          await responder.page(request, response, shown, {
            dated: hasHistory ? { at, now: new Date(now()).toISOString() } : null,
          });
      });
      return undefined;
    });
  }
  addCertificateRoute(app, readers, pdfs, responder);
  addQueryRoutes(app, asking, responder, now);
  if (demoActions !== null) addDemoRoutes(app, { actions: demoActions, readers, now, responder });
  if (actions !== null) addActionRoutes(app, readers, actions);
  app.use(async (request: Request, response: Response) => {
    await refuse(request, response, 404, 'Page not found.');
  });
  app.use(async (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    if (response.destroyed) return;
    const refused = toRefusal(error);
    if (refused !== null && !response.headersSent)
      return await refuse(request, response, refused.status, refused.text);
    failed(error);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    await refuse(request, response, 500, `This page ${COULD_NOT_BE_CREATED}`);
  });
  return app;
}

/** Returns the answer to a bad request, which is not logged; null for any other error. */
function toRefusal(error: unknown): { readonly status: number; readonly text: string } | null {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 0;
  if (!(status >= 400 && status < 500)) return null;
  const text = status === 413 ? 'The request is too large.' : 'The request could not be read.';
  return { status, text };
}

/** Downloads are not redirected: programs expect the rows in the first answer. */
const IS_FILE = /\.(csv|json)$/;

/** Refuses unknown parameters: ignoring one would answer a different question. */
function findUnknownParameter(
  query: URLSearchParams,
  { parameters = [], hasHistory }: ConsolePage,
): PageFault | null {
  const known = hasHistory === true ? [...parameters, AS_OF] : parameters;
  const unknown = [...query.keys()].find(name => !known.includes(name));
  if (unknown === undefined) return null;
  const problem = unknown === AS_OF ? 'This page has no history view.' : `Unknown parameter “${unknown}”.`;
  const accepted =
    known.length === 0 ? 'This page accepts no parameters.' : `Parameters: ${known.join(', ')}.`;
  return { fault: `${problem} ${accepted}` };
}

/** Refuses U+0000: PostgreSQL cannot store it, so no row contains it. */
function findNulCharacter(request: Request, query: URLSearchParams): PageFault | null {
  const values = [...query.values(), ...Object.values(getPathParameters(request))];
  return values.some(value => value.includes('\0'))
    ? { fault: 'A URL cannot contain the character U+0000.' }
    : null;
}

/** Returns the instant that the URL asks for; the last instant of a range such as a day. */
function parseInstant(query: URLSearchParams, now: number): { readonly at: string | null } | PageFault {
  const given = query.get(AS_OF) || null;
  if (given === null) return { at: null };
  const read = parseTimeRange(given, now);
  return 'fault' in read ? read : { at: read.until };
}
