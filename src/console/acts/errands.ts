import type { Express, Request, Response } from 'express';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Answers, only } from '../answers.js';
import { html, type Html } from '../parts/html.js';
import { button } from './button.js';

/** What reads everything and takes long: done by a program of its own, so that pages go on, and ended with its signal. */
export interface Errands {
  readonly verify: (gone: AbortSignal) => Promise<Verified>;
  readonly copy: (gone: AbortSignal) => Promise<Copy | Refused>;
}

interface Verified {
  readonly isWhole: boolean;
  readonly says: string;
}

/** A whole copy of the mirror as one SQLite file. What is not read of it is gone once it is destroyed. */
interface Copy {
  readonly name: string;
  readonly bytes: number;
  readonly body: Readable;
}

interface Refused {
  readonly fault: string;
}

export const VERIFY = {
  path: '/verify',
  title: 'Check',
  says: 'Check everything now',
  about: html`<h1>Is everything as it was stored?</h1>
<p>Every row is held against its document and against what must hold of it, and every certificate against its hash, by <code>carbon-mirror verify</code>; <code>carbon-mirror verify --against-registry</code> asks the registry for each of them too. It takes a while where there is much; who leaves this page ends it.</p>`,
} as const;

/** What a copy is good for. */
export const OF_A_COPY = 'One SQLite file, as it is now: sqlite3, Datasette, DuckDB and pandas open it.';

export const COPY = {
  path: '/copy',
  title: 'Copy',
  says: 'Take a copy of the mirror',
  about: html`<h1>A copy of the mirror</h1>
<p>${OF_A_COPY}</p>`,
} as const;

const TYPE = 'application/vnd.sqlite3';
const BUSY = 'A check or a copy is under way already: one is made at a time.';

/** One at a time, for as long as somebody waits for it. */
export function offerErrands(app: Express, { verify, copy }: Errands, answers: Answers): void {
  let isBusy = false;

  async function alone(
    request: Request,
    response: Response,
    work: (gone: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (isBusy) return await answers.page(request, response, only('Busy', BUSY), { status: 409 });
    isBusy = true;
    const left = new AbortController();
    response.once('close', () => left.abort());
    try {
      return await work(left.signal);
    } finally {
      isBusy = false;
    }
  }

  for (const { path, title, about, says } of [VERIFY, COPY]) {
    app.get(path, (request, response) =>
      answers.page(request, response, { title, body: html`${about}${button(true, path, says)}` }),
    );
  }
  app.post(VERIFY.path, (request, response) =>
    alone(request, response, async gone => {
      const later = async () => said(await unlessGone(gone, verify(gone)));
      await answers.page(request, response, { title: VERIFY.title, body: VERIFY.about, later });
    }),
  );
  app.post(COPY.path, (request, response) =>
    alone(request, response, async gone => {
      const copied = await copy(gone);
      if ('fault' in copied)
        return await answers.page(request, response, only(COPY.title, copied.fault), { status: 507 });
      const { name, bytes, body } = copied;
      const disposition = `attachment; filename="${name}"`;
      response.set({
        'content-type': TYPE,
        'content-length': String(bytes),
        'content-disposition': disposition,
      });
      return await pipeline(body, response);
    }),
  );
}

/** Nobody is there to be told of a fault that leaving has made. */
async function unlessGone<Answer>(gone: AbortSignal, work: Promise<Answer>): Promise<Answer | null> {
  try {
    return await work;
  } catch (error) {
    if (gone.aborted) return null;
    throw error;
  }
}

function said(verified: Verified | null): Html {
  if (verified === null) return html``;
  const { isWhole, says } = verified;
  const verdict = isWhole
    ? 'Nothing in the mirror contradicts itself.'
    : 'Something is not as it was stored.';
  return html`<p role="status"><span class="state ${isWhole ? 'current' : 'failed'}">${verdict}</span></p><pre>${says}</pre>`;
}
