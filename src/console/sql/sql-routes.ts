import type { Express, Request, Response } from 'express';
import { SqlQueryError } from '../../store/contract/sql-query.js';
import { type Responder, parseForm } from '../responder.js';
import { ORIGIN } from '../guard/guard.js';
import { getVisitor } from '../guard/visitor.js';
import { FILE_FORMATS, writeCsv } from '../downloads.js';
import {
  type SqlAccess,
  createSqlRunner,
  discardRows,
  type QueryResult,
  type QueryVisitor,
} from './sql-runner.js';
import { renderSqlPage } from './sql-page.js';

/**
 * Creates the object that represents the visitor of a running query. Its `signal` tells the query that the visitor has
 * disconnected. Its function `hangUp` disconnects the visitor.
 */
function createQueryVisitor(response: Response): QueryVisitor {
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  // Reset the connection instead of closing it, so that a partial file does not look complete.
  return { signal: disconnected.signal, hangUp: () => void response.req.socket.resetAndDestroy() };
}

/** Adds the routes of the SQL page. GET shows the form, and POST runs the query. */
export function addSqlRoutes(app: Express, access: SqlAccess, responder: Responder, now: () => number): void {
  const queryRunner = createSqlRunner(access, now);

  /** Sends the SQL page with a query and its result, which is null if the query was not run. */
  async function sendQueryPage(
    request: Request,
    response: Response,
    sql: string,
    result: QueryResult | null,
  ): Promise<void> {
    const relations = access.describeSchema();
    await responder.sendPage(
      request,
      response,
      renderSqlPage({
        sql,
        result,
        relations,
        savedQueries: access.savedQueries,
        pageToken: getVisitor(response).pageToken,
      }),
    );
  }

  /** Runs a query and sends all rows as a CSV download. If the query fails, sends the SQL page with an error message. */
  async function sendQueryCsv(request: Request, response: Response, sql: string): Promise<void> {
    try {
      const { columns, rows } = await queryRunner.streamRows(sql, createQueryVisitor(response));
      const { type } = FILE_FORMATS.csv;
      try {
        await responder.sendFile(response, { type, name: 'answer.csv', text: writeCsv({ rows, columns }) });
      } finally {
        await discardRows(rows);
      }
    } catch (error) {
      if (!(error instanceof SqlQueryError) || response.headersSent) throw error;
      await sendQueryPage(request, response, sql, { fault: `SQL: ${error.message}` });
    }
  }

  app.get('/ask', async (request: Request, response: Response) => {
    const { searchParams } = new URL(request.url, ORIGIN);
    await sendQueryPage(request, response, searchParams.get('sql') ?? '', null);
  });
  app.post('/ask', async (request: Request, response: Response) => {
    const form = parseForm(request);
    const sql = form.get('sql') ?? '';
    if (form.get('form') === 'csv') return await sendQueryCsv(request, response, sql);
    const result = await queryRunner.readFirstRows(sql, createQueryVisitor(response));
    return await sendQueryPage(request, response, sql, result);
  });
}
