import express, { type Request, type RequestHandler, type Response } from 'express';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Sent, Shown } from './page.js';
import { html } from './parts/html.js';
import { type Frame, layout } from './parts/layout.js';

export interface Answers {
  readonly page: (request: Request, response: Response, shown: Shown, how?: How) => void;
  /** Who leaves before the end ends the reading. */
  readonly rows: (response: Response, sent: Sent) => Promise<void>;
}

interface How {
  readonly status?: number;
  readonly dated?: Frame['dated'];
}

/** Forms of our own pages are short. */
export const FORM: RequestHandler = express.text({
  type: 'application/x-www-form-urlencoded',
  limit: '128kb',
});

export function createAnswers({ hasDemo }: { readonly hasDemo: boolean }): Answers {
  return {
    page: ({ url, path }, response, { title, body }, { status = 200, dated = null } = {}) => {
      const { searchParams: query } = new URL(url, 'http://console');
      response.status(status).type('html').send(layout({ title, path, query, body, dated, hasDemo }).text);
    },
    rows: async (response, { type, name, text }) => {
      response.set({ 'content-type': type, 'content-disposition': `attachment; filename="${name}"` });
      await pipeline(Readable.from(text), response);
    },
  };
}

export function formIn({ body }: { readonly body?: unknown }): URLSearchParams {
  return new URLSearchParams(typeof body === 'string' ? body : '');
}

export function paramsOf({ params }: Request): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** A page that has nothing to say but one sentence. */
export function only(title: string, sentence: string): Shown {
  return { title, body: html`<h1>${sentence}</h1><p><a href="/">What there is now</a></p>` };
}
