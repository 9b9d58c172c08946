import express, { type Request, type RequestHandler, type Response } from 'express';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, type Gzip, gzipSync } from 'node:zlib';
import { AskError } from '../store/contract/asked.js';
import { ORIGIN } from './guard/guard.js';
import type { Sent, Shown } from './page.js';
import { html, type Html } from './components/html.js';
import { type Frame, layout, type Theme } from './components/layout.js';

export interface Answers {
  /** Ended once all of it is written: what follows later is read meanwhile. */
  readonly page: (
    request: Request,
    response: Response,
    shown: Shown,
    how?: { readonly status?: number; readonly dated?: Frame['dated'] },
  ) => Promise<void>;
  /** Streams rows as a file. A visitor who leaves before the end ends the reading. */
  readonly rows: (response: Response, sent: Sent) => Promise<void>;
  /** Streams the content of an answer whose headers are set. */
  readonly stream: (response: Response, content: AsyncIterable<string | Uint8Array>) => Promise<void>;
}

/** Forms of our own pages are short. */
export const FORM: RequestHandler = express.text({
  type: 'application/x-www-form-urlencoded',
  limit: '128kb',
});

interface AnswersOptions {
  readonly hasDemo: boolean;
  /** Told of what went wrong with a part that follows later. */
  readonly failed: (error: unknown) => void;
}

export const NOT_MADE = 'could not be created. The log of the console has the reason.';

export function createAnswers({ hasDemo, failed }: AnswersOptions): Answers {
  async function follow(later: NonNullable<Shown['later']>): Promise<Html> {
    try {
      return await later();
    } catch (error) {
      failed(error);
      return html`<p role="alert" class="fault">The rest of this page ${NOT_MADE}</p>`;
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
      const { title, body, later, about = false, goesOn = false } = shown;
      const { searchParams: query } = new URL(url, ORIGIN);
      const theme = themeOf(request);
      const { first, last } = layout({ title, path, query, body, about, goesOn, dated, hasDemo, theme });
      response.status(status).type('html');
      if (later === undefined || method === 'HEAD')
        return sendText(request, response, first.text + last.text);
      const out = mayPack(request) ? packedInto(response) : response;
      out.write(first.text);
      out.end((await follow(later)).text + last.text);
      return undefined;
    },
    rows: async (response, { type, name, text }) => {
      response.set({ 'content-type': type, 'content-disposition': `attachment; filename="${name}"` });
      await stream(response, text);
    },
  };
}

/** Packing less saves no packet. */
const SMALL = 4_096;
const PACKED = { 'content-encoding': 'gzip', vary: 'accept-encoding' } as const;

export function sendText(request: Request, response: Response, text: string): void {
  if (text.length <= SMALL || !mayPack(request)) response.send(text);
  else response.set(PACKED).send(gzipSync(text));
}

/**
 * No page holds a key. Nor is what an address asks for packed together with rows: who sends a visitor to addresses of
 * theirs, and sees how long the answers are, would learn from the lengths what stands in the rows.
 */
function mayPack(request: Request): boolean {
  return !request.url.includes('?') && request.acceptsEncodings('gzip') !== false;
}

/** What is written goes out at once. */
function packedInto(response: Response): Gzip {
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  gzip.pipe(response.set(PACKED));
  return gzip;
}

export function formIn({ body }: { readonly body?: unknown }): URLSearchParams {
  return new URLSearchParams(typeof body === 'string' ? body : '');
}

export function paramsOf({ params }: Request): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

const YEAR_MS = 31_536_000_000;
const THEME = /(?:^|; )carbon-mirror-theme=(light|dark)(?:;|$)/;

function themeOf({ headers }: Request): Theme {
  const chosen = THEME.exec(headers.cookie ?? '')?.[1];
  return chosen === 'light' || chosen === 'dark' ? chosen : null;
}

/** Keeps what somebody has chosen in their browser, and goes back to where they were. */
export const chooseTheme: RequestHandler = (request, response) => {
  const form = formIn(request);
  const to = URL.parse(form.get('to') ?? '/', ORIGIN);
  const theme = /^(light|dark)$/.exec(form.get('theme') ?? '')?.[0] ?? '';
  response.cookie('carbon-mirror-theme', theme, { maxAge: YEAR_MS, httpOnly: true, sameSite: 'lax' });
  response.redirect(303, to?.origin === ORIGIN ? to.pathname.replace(/^\/+/, '/') + to.search : '/');
};

/** A page that has nothing to say but one sentence. */
export function only(title: string, sentence: string): Shown {
  return { title, body: html`<h1>${sentence}</h1><p><a href="/">Go to Now</a></p>` };
}
