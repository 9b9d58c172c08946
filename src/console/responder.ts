import express, { type Request, type RequestHandler, type Response } from 'express';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, type Gzip, gzipSync } from 'node:zlib';
import { SqlQueryError } from '../store/contract/sql-query.js';
import { ORIGIN } from './guard/guard.js';
import { getVisitor } from './guard/visitor.js';
import type { FileContent, PageContent } from './page.js';
import { html, type Html } from './components/html.js';
import { type LayoutOptions, renderLayout, type Theme } from './components/layout.js';

/** Sends pages and files to visitors. */
export interface Responder {
  /** Sends a page. The slow part is rendered while the rest is on its way. */
  readonly sendPage: (
    request: Request,
    response: Response,
    content: PageContent,
    options?: { readonly status?: number; readonly history?: LayoutOptions['history'] },
  ) => Promise<void>;
  /** Sends a page of one sentence with an error status. */
  readonly sendMessage: (
    request: Request,
    response: Response,
    status: number,
    sentence: string,
    history?: LayoutOptions['history'],
  ) => Promise<void>;
  /** Streams a file as a download. Reading stops if the visitor disconnects. */
  readonly sendFile: (response: Response, file: FileContent) => Promise<void>;
  /** Streams a body whose headers are already set. */
  readonly sendStream: (response: Response, content: AsyncIterable<string | Uint8Array>) => Promise<void>;
}

interface ResponderOptions {
  readonly hasDemo: boolean;
  /** Reports why a download or the slow part of a page failed. */
  readonly onFailure: (error: unknown) => void;
}

export const COULD_NOT_BE_CREATED = 'could not be created. The log of the console has the reason.';

/** Creates the functions that send pages, messages and files to visitors. */
export function createResponder({ hasDemo, onFailure }: ResponderOptions): Responder {
  /**
   * Renders the slow content of a page, which is sent after the other content. If `renderRest` throws, reports the error and
   * returns an error message for the visitor.
   */
  async function renderSlowPart(renderRest: NonNullable<PageContent['renderRest']>): Promise<Html> {
    try {
      return await renderRest();
    } catch (error) {
      onFailure(error);
      return html`<p role="alert" class="fault">The rest of this page ${COULD_NOT_BE_CREATED}</p>`;
    }
  }

  /**
   * Yields the content of a download unchanged. If reading it fails, resets the connection, so that a partial file does not
   * look complete.
   */
  async function* resetOnFailure<Chunk>(
    content: AsyncIterable<Chunk>,
    { req }: Response,
  ): AsyncGenerator<Chunk> {
    try {
      yield* content;
    } catch (error) {
      const hasVisitorLeft = req.socket.destroyed;
      if (!hasVisitorLeft && !(error instanceof SqlQueryError)) onFailure(error);
      // Over HTTP/1.0, a connection that only closes looks like the end of the file.
      req.socket.resetAndDestroy();
      throw error;
    }
  }

  const sendStream: Responder['sendStream'] = async (response, content) => {
    await pipeline(Readable.from(resetOnFailure(content, response)), response);
  };

  const sendPage: Responder['sendPage'] = async (
    request,
    response,
    content,
    { status = 200, history = null } = {},
  ) => {
    const { title, body, renderRest, intro = false, reloadsWithoutScript = false } = content;
    const { searchParams: query } = new URL(request.url, ORIGIN);
    const { beforeRest, afterRest } = renderLayout({
      title,
      path: request.path,
      query,
      body,
      intro,
      reloadsWithoutScript,
      history,
      hasDemo,
      theme: readTheme(request),
      pageToken: getVisitor(response).pageToken,
    });
    response.status(status).type('html');
    if (renderRest === undefined || request.method === 'HEAD') {
      sendText(request, response, beforeRest.text + afterRest.text);
      return;
    }
    const out = canCompress(request) ? createGzipStream(response) : response;
    out.write(beforeRest.text);
    out.end((await renderSlowPart(renderRest)).text + afterRest.text);
  };

  return {
    sendPage,
    sendStream,
    sendMessage: async (request, response, status, sentence, history = null) => {
      const title = status === 404 ? 'Not found' : 'Error';
      const content = { title, body: renderErrorPage(status, sentence) };
      await sendPage(request, response, content, { status, history });
    },
    sendFile: async (response, { type, name, text }) => {
      response.set({ 'content-type': type, 'content-disposition': `attachment; filename="${name}"` });
      await sendStream(response, text);
    },
  };
}

/** Pages that a visitor may have looked for. */
const STARTING_POINTS = [
  ['/', 'Now', 'what is available to sell, and what needs attention'],
  ['/warehouse', 'Warehouse', 'credits that can be reserved'],
  ['/retirements', 'Retirements', 'what was retired for whom, with certificates'],
  ['/organizations', 'Organizations', 'whose credits are mirrored, and how fresh they are'],
  ['/help', 'Help', 'every list, word and key'],
] as const;

/** Renders the page of an error: its status, a sentence about it, and links to other pages. */
function renderErrorPage(status: number, sentence: string): Html {
  const items = STARTING_POINTS.map(
    ([path, label, description]) => html`<li><a href="${path}">${label}</a> <p>${description}</p></li>`,
  );
  return html`<div><p class="lead">Error ${status}</p><h1>${sentence}</h1></div>
<section class="card message"><h2>Go on</h2>
<form class="search-again" method="get" action="/search" role="search" aria-label="Search again"><label>Search for an id or a name <input name="q" type="search"></label> <button>Search</button></form>
<ol class="timeline">${items}</ol></section>`;
}

/** Smaller answers fit into few packets, so compressing them gains nothing. */
const MIN_COMPRESSED_LENGTH = 4_096;
const GZIP_HEADERS = { 'content-encoding': 'gzip', vary: 'accept-encoding' } as const;

/** Sends a text as the response. Compresses it if it is long and `canCompress` allows it. */
export function sendText(request: Request, response: Response, text: string): void {
  if (text.length <= MIN_COMPRESSED_LENGTH || !canCompress(request)) response.send(text);
  else response.set(GZIP_HEADERS).send(gzipSync(text));
}

/** Whether a response may be compressed. False for a URL with parameters, to prevent the BREACH attack. */
function canCompress(request: Request): boolean {
  // An attacker who chooses URL parameters and sees the sizes of the responses could infer the contents of rows, or the
  // page token of the forms.
  return !request.url.includes('?') && request.acceptsEncodings('gzip') !== false;
}

/**
 * Creates a gzip stream that writes to the response, and sets the response headers for it. Flushes after each write, so that the
 * browser shows the start of a slow page early.
 */
function createGzipStream(response: Response): Gzip {
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  gzip.pipe(response.set(GZIP_HEADERS));
  return gzip;
}

/** Reads the body of a form. Our own forms are short. */
export const readFormBody: RequestHandler = express.text({
  type: 'application/x-www-form-urlencoded',
  limit: '128kb',
});

/** Parses the form fields of a request whose body `readFormBody` has read. */
export function parseForm({ body }: { readonly body?: unknown }): URLSearchParams {
  return new URLSearchParams(typeof body === 'string' ? body : '');
}

/** Returns the path parameters of a request, such as `id` for the route `/jobs/:id`. */
export function getPathParameters({ params }: Request): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

const YEAR_MS = 31_536_000_000;
const THEME_COOKIE = /(?:^|; )carbon-mirror-theme=(light|dark)(?:;|$)/;

/** Returns the colour theme that the visitor has chosen, from a cookie. Null if the visitor has chosen none. */
function readTheme({ headers }: Request): Theme {
  const chosen = THEME_COOKIE.exec(headers.cookie ?? '')?.[1];
  return chosen === 'light' || chosen === 'dark' ? chosen : null;
}

/** Stores the chosen theme in a cookie and redirects to the previous page. */
export const chooseTheme: RequestHandler = (request, response) => {
  const form = parseForm(request);
  const previous = URL.parse(form.get('to') ?? '/', ORIGIN);
  const theme = /^(light|dark)$/.exec(form.get('theme') ?? '')?.[0] ?? '';
  response.cookie('carbon-mirror-theme', theme, { maxAge: YEAR_MS, httpOnly: true, sameSite: 'lax' });
  response.redirect(
    303,
    previous?.origin === ORIGIN ? previous.pathname.replace(/^\/+/, '/') + previous.search : '/',
  );
};
