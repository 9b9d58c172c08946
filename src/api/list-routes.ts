import type { Express } from 'express';
import type { StoredToken } from '../inbox/token.js';
import { text } from '../query/lists/column.js';
import type { List, ListRequest } from '../query/lists/list-type.js';
import { ALL_LISTS } from '../query/lists/list-definitions.js';
import { type ListAnswer, readList } from '../query/lists/read-list.js';
import type { Reader } from '../store/contract/reader.js';
import { hasColumn, type Row, TABLES } from '../store/contract/tables.js';
import { assertMayReadList, removeForbiddenCaveats } from './access.js';
import { type ApiCall, type ApiContext, createEndpoint, getPathParameter } from './api-context.js';
import { formatCursor, parseCursor } from './cursor.js';
import { listSelectors, parseSelection } from './list-request.js';
import { parseLimit, parseParameters } from './parameters.js';
import { ApiProblem, createBadRequest } from './problem.js';
import { sendJson, serializePage } from './respond.js';

/**
 * Adds one route for each list. The route sends the rows of the list in pages. A list with an id column gets a second route, which sends
 * the rows with the id in the path.
 */
export function addListRoutes(app: Express, context: ApiContext): void {
  for (const list of ALL_LISTS) {
    app.get(
      `/v1/${list.name}`,
      createEndpoint(context, call => sendListPage(context, list, call)),
    );
    if (hasRowsById(list))
      app.get(
        `/v1/${list.name}/:id`,
        createEndpoint(context, call => sendRowsById(context, list, call)),
      );
  }
}

/** Whether one column identifies the rows of a list. */
export function hasRowsById({ from, idColumn }: List): boolean {
  return hasColumn(from, idColumn);
}

/** Sends one page of a list. */
async function sendListPage(
  context: ApiContext,
  list: List,
  { request, response, token }: ApiCall,
): Promise<void> {
  assertMayReadList(token, list);
  const parameters = parseParameters(request, [...listSelectors(list), 'limit', 'after']);
  const limit = parseLimit(parameters);
  const body = await context.readers.withReader(async reader => {
    const selection = await parseSelection(reader, list, { parameters, token, now: context.now() });
    const cursor = parameters.get('after');
    const after = cursor === null ? null : parseCursor(selection, cursor);
    const answer = await readList(reader, selection, { kind: 'page', limit, after });
    return await serializeListPage(answer, selection, token);
  });
  await sendJson(request, response, body);
}

/** Serializes a page of a list as JSON with the cursor of the next page, and without caveats that the token may not see. */
async function serializeListPage(
  answer: ListAnswer,
  request: ListRequest,
  token: StoredToken,
): Promise<string> {
  const { next } = answer;
  return await serializePage(removeForbiddenCaveats({ ...answer, rows: selectColumns(answer) }, token), {
    next: next === null ? null : formatCursor(request, next),
  });
}

/** Several organizations can hold the same credit, so an id can have several rows. */
const MAX_ROWS_OF_ID = 1_000;
const MAX_ID_LENGTH = 1_000;

/** Sends the rows of a list that have the id in the URL path. */
async function sendRowsById(
  context: ApiContext,
  list: List,
  { request, response, token }: ApiCall,
): Promise<void> {
  assertMayReadList(token, list);
  const selectors = listSelectors(list).filter(name => name === 'organization_id' || name === 'as_of');
  const parameters = parseParameters(request, selectors);
  const id = parseRowId(list, getPathParameter(request, 'id'));
  const body = await context.readers.withReader(async reader => {
    const selection = await parseSelection(reader, list, { parameters, token, now: context.now() });
    return await serializeRowsById(reader, selection, id, token);
  });
  await sendJson(request, response, body);
}

/** Serializes the rows that have the given id as JSON, with all columns. Throws a 404 problem if there are none. */
async function serializeRowsById(
  reader: Reader,
  selection: ListRequest,
  id: string | number,
  token: StoredToken,
): Promise<string> {
  // Caveats of a whole list say nothing about one row.
  const list = { ...withAllColumns(selection.list), readCaveats: null };
  const where = [...selection.where, { column: list.idColumn, is: id }];
  const range = { kind: 'page', limit: MAX_ROWS_OF_ID, after: null } as const;
  const answer = await readList(reader, { ...selection, list, where }, range);
  if (answer.totals.rows > 0) return await serializeListPage(answer, selection, token);
  throw new ApiProblem(404, `The mirror has no ${list.singular} with this id.`, {
    // A row that is missing may belong to a list that was not read yet.
    members: { coverage: answer.coverage },
  });
}

/** Parses the id in a path as the type of the list's id column, text or number. Throws a 400 problem if it is invalid. */
function parseRowId(list: List, id: string): string | number {
  const [kind = 'text'] = TABLES[list.from]?.[list.idColumn] ?? [];
  if (id.includes('\0') || id.length > MAX_ID_LENGTH)
    throw createBadRequest(`id: expected at most ${MAX_ID_LENGTH} characters without NUL.`);
  if (kind === 'text') return id;
  if (/^\d{1,15}$/.test(id)) return Number(id);
  throw createBadRequest('id: expected a whole number.');
}

/** Returns a copy of a list with all columns of its table, including those that list pages leave out. */
function withAllColumns(list: List): List {
  const added = Object.keys(TABLES[list.from] ?? {}).filter(
    name => !list.columns.some(column => column.name === name),
  );
  return {
    ...list,
    columns: [...list.columns, ...added.map(name => text(name))],
    reads: [...new Set([...list.reads, ...added])],
  };
}

async function* selectColumns({ rows, columns }: ListAnswer): AsyncGenerator<Row> {
  for await (const row of rows) yield Object.fromEntries(columns.map(name => [name, row[name] ?? null]));
}
