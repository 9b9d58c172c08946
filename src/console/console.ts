import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { type Actions, offerActions } from './actions/actions.js';
import { chooseTheme, createAnswers, FORM, NOT_MADE, only, paramsOf, sendText } from './answers.js';
import type { Asking } from './ask/asking.js';
import { offerQuestions } from './ask/offer.js';
import { offerCertificates } from './certificates.js';
import { type DemoAction, offerDemo } from './demo/demo.js';
import { createGuard, type GuardOptions, ORIGIN } from './guard/guard.js';
import type { Changes } from './live/changes.js';
import { SCRIPT } from './live/script.js';
import type { Fault, Page, Pdfs, Shared } from './page.js';
import { createPages } from './pages/pages.js';
import type { Readers } from './readers.js';
import { AS_OF, withQuery } from './components/as-of.js';
import { parseTimeRange } from '../text/time-range.js';
import { STYLE } from './components/style.js';

export interface ConsoleOptions extends GuardOptions, Shared {
  readonly readers: Readers;
  readonly now: () => number;
  readonly changes: Changes;
  /** Null where nothing is to be done here. */
  readonly actions: Actions | null;
  readonly asking: Asking;
  readonly pdfs: Pdfs;
  /** What a visitor may do at the demo's registry; null where it is no demo. */
  readonly demoActions: readonly DemoAction[] | null;
  /** Told of what went wrong with a page; the visitor gets a sentence. */
  readonly failed: (error: unknown) => void;
}

/** Pages over the mirror, for those whom the guard lets in. */
export function createConsole(options: ConsoleOptions): Express {
  const { readers, now, changes, failed, actions, asking, demoActions, pdfs } = options;
  const { webhookUrl, version, comparison, contradicted, sealedIn } = options;
  const [canAct, isDemo] = [actions !== null, demoActions !== null];
  const shared = { webhookUrl, version, comparison, contradicted, sealedIn, canAct, isDemo };
  const answers = createAnswers({ hasDemo: isDemo, failed });
  const refuse = (request: Request, response: Response, status: number, says: string) =>
    answers.page(request, response, only(status === 404 ? 'Not found' : 'Error', says), { status });
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  app.use(createGuard(options));
  app.get('/console.css', (request, response) => sendText(request, response.type('css'), STYLE));
  app.get('/console.js', (_request, response) => void response.type('js').send(SCRIPT));
  app.post('/theme', FORM, chooseTheme);
  app.get('/live', (_request, response) => changes.follow(response));
  for (const page of createPages()) {
    app.get(page.path, async (request: Request, response: Response) => {
      const { searchParams: query } = new URL(request.url, ORIGIN);
      const isDated = page.isDated === true;
      const asked =
        unknownIn(query, page) ??
        withoutNul(request, query) ??
        (isDated ? instantIn(query, now()) : { at: null });
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
          params: paramsOf(request),
          origin: `${request.protocol}://${request.headers.host ?? ''}`,
        };
        const shown = await page.show(ask);
        if ('location' in shown) response.redirect(303, shown.location);
        else if ('missing' in shown) await refuse(request, response, 404, shown.missing);
        else if ('fault' in shown) await refuse(request, response, 400, shown.fault);
        else if ('text' in shown) await answers.rows(response, shown);
        else
          await answers.page(request, response, shown, {
            dated: isDated ? { at, now: new Date(now()).toISOString() } : null,
          });
      });
      return undefined;
    });
  }
  offerCertificates(app, readers, pdfs, answers);
  offerQuestions(app, asking, answers, now);
  if (demoActions !== null) offerDemo(app, { actions: demoActions, readers, now, answers });
  if (actions !== null) offerActions(app, readers, actions);
  app.use(async (request: Request, response: Response) => {
    await refuse(request, response, 404, 'Page not found.');
  });
  app.use(async (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    if (response.destroyed) return;
    const refused = refusalOf(error);
    if (refused !== null && !response.headersSent)
      return await refuse(request, response, refused.status, refused.text);
    failed(error);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    await refuse(request, response, 500, `This page ${NOT_MADE}`);
  });
  return app;
}

/** What was sent cannot be taken: who sent it is told so, and nobody else. */
function refusalOf(error: unknown): { readonly status: number; readonly text: string } | null {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 0;
  if (!(status >= 400 && status < 500)) return null;
  const text = status === 413 ? 'The request is too large.' : 'The request could not be read.';
  return { status, text };
}

/** Programs take the rows at the first answer. */
const IS_FILE = /\.(csv|json)$/;

/** Refuses unknown parameters: ignoring one would answer a different question. */
function unknownIn(query: URLSearchParams, { asks = [], isDated }: Page): Fault | null {
  const known = isDated === true ? [...asks, AS_OF] : asks;
  const unknown = [...query.keys()].find(name => !known.includes(name));
  if (unknown === undefined) return null;
  const problem = unknown === AS_OF ? 'This page has no history view.' : `Unknown parameter “${unknown}”.`;
  const accepted =
    known.length === 0 ? 'This page accepts no parameters.' : `Parameters: ${known.join(', ')}.`;
  return { fault: `${problem} ${accepted}` };
}

/** PostgreSQL has no text with this character, so no row can have it. */
function withoutNul(request: Request, query: URLSearchParams): Fault | null {
  const values = [...query.values(), ...Object.values(paramsOf(request))];
  return values.some(value => value.includes('\0'))
    ? { fault: 'A URL cannot contain the character U+0000.' }
    : null;
}

/** Of what takes a while its last instant. */
function instantIn(query: URLSearchParams, now: number): { readonly at: string | null } | Fault {
  const given = query.get(AS_OF) || null;
  if (given === null) return { at: null };
  const read = parseTimeRange(given, now);
  return 'fault' in read ? read : { at: read.to };
}
