import type { Express, Request, Response } from 'express';
import { AskError } from '../../store/contract/asked.js';
import { type Answers, FORM, formIn } from '../answers.js';
import { ORIGIN } from '../guard/guard.js';
import { FORMS } from '../lists/files.js';
import { type Asking, createDesk, leave, type Reply, type Visitor } from './asking.js';
import { showAsk } from './page.js';

/** The visitor who asked. A connection that is hung up is reset, so that half a file does not look like the whole. */
function visitorOf(response: Response): Visitor {
  const left = new AbortController();
  response.once('close', () => left.abort());
  return { signal: left.signal, hangUp: () => void response.req.socket.resetAndDestroy() };
}

/** Only a page of ours asks: a link from elsewhere fills the form in, and no more. */
export function offerQuestions(app: Express, asking: Asking, answers: Answers, now: () => number): void {
  const desk = createDesk(asking, now);

  async function page(
    request: Request,
    response: Response,
    sql: string,
    outcome: Reply | null,
  ): Promise<void> {
    const relations = asking.describeSchema();
    await answers.page(request, response, showAsk({ sql, outcome, relations, ready: asking.ready }));
  }

  async function csv(request: Request, response: Response, sql: string): Promise<void> {
    try {
      const { columns, rows } = await desk.stream(sql, visitorOf(response));
      const { type, write } = FORMS.csv;
      const text = write({ rows, columns });
      try {
        await answers.rows(response, { type, name: 'answer.csv', text });
      } finally {
        await leave(rows);
      }
    } catch (error) {
      if (!(error instanceof AskError) || response.headersSent) throw error;
      await page(request, response, sql, { fault: `SQL: ${error.message}` });
    }
  }

  app.get('/ask', async (request: Request, response: Response) => {
    const { searchParams } = new URL(request.url, ORIGIN);
    await page(request, response, searchParams.get('sql') ?? '', null);
  });
  app.post('/ask', FORM, async (request: Request, response: Response) => {
    const form = formIn(request);
    const sql = form.get('sql') ?? '';
    if (form.get('form') === 'csv') return await csv(request, response, sql);
    return await page(request, response, sql, await desk.answer(sql, visitorOf(response)));
  });
}
