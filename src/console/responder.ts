import express, { type Request, type RequestHandler, type Response } from 'express';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, type Gzip, gzipSync } from 'node:zlib';
import { AskError } from '../store/contract/asked.js';
import { ORIGIN } from './guard/guard.js';
import type { FileContent, PageContent } from './page.js';
import { html, type Html } from './components/html.js';
import { type LayoutOptions, renderLayout, type Theme } from './components/layout.js';

export interface Responder {
  /** Sends a page. The slow part is read while the rest is on its way. */
  readonly page: (
    request: Request,
    response: Response,
    shown: PageContent,
    how?: { readonly status?: number; readonly dated?: LayoutOptions['dated'] },
  ) => Promise<void>;
  /** Streams rows as a file. Reading stops if the visitor disconnects. */
  readonly rows: (response: Response, sent: FileContent) => Promise<void>;
  /** Streams a body after its headers were set. */
  readonly stream: (response: Response, content: AsyncIterable<string | Uint8Array>) => Promise<void>;
}

/** Reads the body of a form. Our own forms are short. */
export const readFormBody: RequestHandler = express.text({
  type: 'application/x-www-form-urlencoded',
  limit: '128kb',
});

interface ResponderOptions {
  readonly hasDemo: boolean;
  /** Reports why the slow part of a page failed. */
  readonly failed: (error: unknown) => void;
}

export const COULD_NOT_BE_CREATED = 'could not be created. The log of the console has the reason.';

export function createResponder({ hasDemo, failed }: ResponderOptions): Responder {
  async function renderOrExplain(renderRest: NonNullable<PageContent['renderRest']>): Promise<Html> {
    try {
      return await renderRest();
    } catch (error) {
      failed(error);
      return html`<p role="alert" class="fault">The rest of this page ${COULD_NOT_BE_CREATED}</p>`;
    }
  }

  /** Resets the connection where the content cannot be read to its end: over HTTP/1.0 a closed connection looks like the end. */
  async function* resetOnFailure<Chunk>(
    content: AsyncIterable<Chunk>,
    { req }: Response,
  ): AsyncGenerator<Chunk> {
    try {
      yield* content;
    } catch (error) {
      const hasLeft = req.socket.destroyed;
      if (!hasLeft && !(error instanceof AskError)) failed(error);
      req.socket.resetAndDestroy();
      throw error;
    }
  }

  async function stream(response: Response, content: AsyncIterable<string | Uint8Array>): Promise<void> {
    await pipeline(Readable.from(resetOnFailure(content, response)), response);
  }

  return {
    stream,
    page: async (request, response, shown, { status = 200, dated = null } = {}) => {
      const { url, path, method } = request;
      const { title, body, renderRest, intro = false, refreshes = false } = shown;
      const { searchParams: query } = new URL(url, ORIGIN);
      const theme = readTheme(request);
      const { first, last } = renderLayout({
        title,
        path,
        query,
        body,
        intro,
        refreshes,
        dated,
        hasDemo,
        theme,
      });
      response.status(status).type('html');
      if (renderRest === undefined || method === 'HEAD')
        return sendText(request, response, first.text + last.text);
      const out = canCompress(request) ? compressInto(response) : response;
      out.write(first.text);
      out.end((await renderOrExplain(renderRest)).text + last.text);
      return undefined;
    },
    rows: async (response, { type, name, text }) => {
      response.set({ 'content-type': type, 'content-disposition': `attachment; filename="${name}"` });
      await stream(response, text);
    },
  };
}

/** Smaller answers fit into few packets, so compressing them gains nothing. */
const SMALL = 4_096;
const PACKED = { 'content-encoding': 'gzip', vary: 'accept-encoding' } as const;

export function sendText(request: Request, response: Response, text: string): void {
  if (text.length <= SMALL || !canCompress(request)) response.send(text);
  else response.set(PACKED).send(gzipSync(text));
}

/**
 * Compresses no answer to a URL with parameters. Otherwise somebody who sends the visitor to chosen URLs and sees the
 * sizes of the answers could infer the contents of rows (BREACH). No page holds a key.
 */
function canCompress(request: Request): boolean {
  return !request.url.includes('?') && request.acceptsEncodings('gzip') !== false;
}

/** Compresses a response and flushes after each write. */
function compressInto(response: Response): Gzip {
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  gzip.pipe(response.set(PACKED));
  return gzip;
}

export function parseForm({ body }: { readonly body?: unknown }): URLSearchParams {
  return new URLSearchParams(typeof body === 'string' ? body : '');
}

export function getPathParameters({ params }: Request): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

const YEAR_MS = 31_536_000_000;
const THEME = /(?:^|; )carbon-mirror-theme=(light|dark)(?:;|$)/;

function readTheme({ headers }: Request): Theme {
  const chosen = THEME.exec(headers.cookie ?? '')?.[1];
  return chosen === 'light' || chosen === 'dark' ? chosen : null;
}

/** Stores the chosen theme in a cookie and returns to the previous page. */
export const chooseTheme: RequestHandler = (request, response) => {
  const form = parseForm(request);
  const to = URL.parse(form.get('to') ?? '/', ORIGIN);
  const theme = /^(light|dark)$/.exec(form.get('theme') ?? '')?.[0] ?? '';
  response.cookie('carbon-mirror-theme', theme, { maxAge: YEAR_MS, httpOnly: true, sameSite: 'lax' });
  response.redirect(303, to?.origin === ORIGIN ? to.pathname.replace(/^\/+/, '/') + to.search : '/');
};

/** Returns a page of one sentence. */
export function createMessagePage(title: string, sentence: string): PageContent {
  return { title, body: html`<h1>${sentence}</h1><p><a href="/">Go to Now</a></p>` };
}
