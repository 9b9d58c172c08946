import type { Express, Request, Response } from 'express';
import { AskError } from '../../store/contract/asked.js';
import { type Responder, readFormBody, parseForm } from '../responder.js';
import { ORIGIN } from '../guard/guard.js';
import { FILE_FORMATS } from '../lists/files.js';
import {
  type SqlAccess,
  createQueryRunner,
  discardRows,
  type QueryResult,
  type Visitor,
} from './query-runner.js';
import { renderQueryPage } from './page.js';

/** Returns the visitor of a response. Hanging up resets the connection, so that half a file does not look complete. */
function createVisitor(response: Response): Visitor {
  const left = new AbortController();
  response.once('close', () => left.abort());
  return { signal: left.signal, hangUp: () => void response.req.socket.resetAndDestroy() };
}

/** Adds the SQL page. A link only fills in the form; a query runs only when our own form is sent. */
export function addQueryRoutes(
  app: Express,
  asking: SqlAccess,
  responder: Responder,
  now: () => number,
): void {
  const desk = createQueryRunner(asking, now);

  async function page(
    request: Request,
    response: Response,
    sql: string,
    outcome: QueryResult | null,
  ): Promise<void> {
    const relations = asking.describeSchema();
    await responder.page(
      request,
      response,
      renderQueryPage({ sql, outcome, relations, ready: asking.ready }),
    );
  }

  async function csv(request: Request, response: Response, sql: string): Promise<void> {
    try {
      const { columns, rows } = await desk.stream(sql, createVisitor(response));
      const { type, write } = FILE_FORMATS.csv;
      const text = write({ rows, columns });
      try {
        await responder.rows(response, { type, name: 'answer.csv', text });
      } finally {
        await discardRows(rows);
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
  app.post('/ask', readFormBody, async (request: Request, response: Response) => {
    const form = parseForm(request);
    const sql = form.get('sql') ?? '';
    if (form.get('form') === 'csv') return await csv(request, response, sql);
    return await page(request, response, sql, await desk.answer(sql, createVisitor(response)));
  });
}
