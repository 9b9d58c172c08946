import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGuard, type GuardOptions } from './guard/guard.js';
import type { Changes } from './live/changes.js';
import { SCRIPT } from './live/script.js';
import type { Sent, Shown } from './page.js';
import { PAGES } from './pages/pages.js';
import type { Readers } from './readers.js';
import { html } from './parts/html.js';
import { layout } from './parts/layout.js';
import { STYLE } from './parts/style.js';

export interface ConsoleOptions extends GuardOptions {
  readonly readers: Readers;
  readonly now: () => number;
  readonly changes: Changes;
  /** Told of what went wrong with a page; the visitor gets a sentence. */
  readonly failed: (error: unknown) => void;
}

/** Pages over the mirror, for those whom the guard lets in. */
export function createConsole(options: ConsoleOptions): Express {
  const { readers, now, changes, failed } = options;
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  app.use(createGuard(options));
  app.get('/console.css', (_request, response) => void response.type('css').send(STYLE));
  app.get('/console.js', (_request, response) => void response.type('js').send(SCRIPT));
  app.get('/live', (_request, response) => changes.follow(response));
  for (const page of PAGES) {
    app.get(page.path, async (request: Request, response: Response, next: NextFunction) => {
      const { searchParams: query } = new URL(request.url, 'http://console');
      const found = await readers.use(async reader => {
        const shown = await page.show({ reader, now: now(), query, params: textsOf(request.params) });
        if (shown === null || !('text' in shown)) return shown;
        await sendRows(response, shown);
        return 'sent';
      });
      if (found === null) return next();
      return found === 'sent' ? undefined : send(response, 200, request.path, found);
    });
  }
  app.use((request: Request, response: Response) => {
    const body = html`<h1>There is no such page.</h1><p><a href="/">What there is now</a></p>`;
    send(response, 404, request.path, { title: 'Not there', body });
  });
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    if (response.destroyed) return;
    failed(error);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const body = html`<h1>This page could not be made.</h1><p>The log of the console says why.</p>`;
    send(response, 500, request.path, { title: 'Fault', body });
  });
  return app;
}

function send(response: Response, status: number, path: string, { title, body }: Shown): void {
  response.status(status).type('html').send(layout({ title, path, body }).text);
}

/** Who leaves before the end ends the reading. */
async function sendRows(response: Response, { type, name, text }: Sent): Promise<void> {
  response.set({ 'content-type': type, 'content-disposition': `attachment; filename="${name}"` });
  await pipeline(Readable.from(text), response);
}

function textsOf(params: Request['params']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
