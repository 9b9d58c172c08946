import type { Express } from 'express';
import { streamOf } from '../query/answer/answer.js';
import { toJson, toNotesData } from '../query/answer/serialize.js';
import { answerAvailable } from '../query/available.js';
import { ALL_LISTS, WAREHOUSE } from '../query/lists/list-definitions.js';
import { getFilterText } from '../query/lists/parse-request.js';
import { readList } from '../query/lists/read-list.js';
import { readStatus } from '../query/status.js';
import type { Row } from '../store/contract/tables.js';
import { describeWrongWord } from '../text/spelling.js';
import { assertMayReadList, assertHasScope, removeForbiddenCaveats } from './access.js';
import { type ApiCall, type ApiContext, createEndpoint } from './api-context.js';
import { toSnakeKeys } from './snake-keys.js';
import { listSelectors, parseSelection } from './list-request.js';
import { parseParameters } from './parameters.js';
import { createBadRequest } from './problem.js';
import { sendJson, serializePage } from './respond.js';

/** The filters of the credits that are available now. */
const AVAILABLE_PARAMETERS = Object.keys(WAREHOUSE.filters);

/** Adds the routes /v1/available, /v1/totals and /v1/status. */
export function addSummaryRoutes(app: Express, context: ApiContext): void {
  app.get(
    '/v1/available',
    createEndpoint(context, call => sendAvailableCredits(context, call)),
  );
  app.get(
    '/v1/totals',
    createEndpoint(context, call => sendTotals(context, call)),
  );
  app.get(
    '/v1/status',
    createEndpoint(context, call => sendStatus(context, call)),
  );
}

/** Sends the credits that can be reserved now, and the warehouses in which nothing is available now. */
async function sendAvailableCredits(
  context: ApiContext,
  { request, response, token }: ApiCall,
): Promise<void> {
  assertMayReadList(token, WAREHOUSE);
  const parameters = parseParameters(request, AVAILABLE_PARAMETERS);
  const body = await context.readers.withReader(async reader => {
    const selection = await parseSelection(reader, WAREHOUSE, { parameters, token, now: context.now() });
    const organizationId = getFilterText(selection, 'organization_id');
    const where = selection.filters
      .filter(({ name }) => name !== 'organization_id')
      .map(({ condition }) => condition);
    const answer = await answerAvailable(reader, { organizationId, where });
    const { excluded, uninstalled } = answer;
    return await serializePage(answer, { next: null, left_out: toSnakeKeys(excluded), uninstalled });
  });
  await sendJson(request, response, body);
}

/**
 * Sends the totals of all rows that match the filters, without the rows. The URL parameter `list` is the name of the list that
 * contains the rows.
 */
async function sendTotals(context: ApiContext, { request, response, token }: ApiCall): Promise<void> {
  const name = new URL(request.url, 'http://localhost').searchParams.get('list');
  const list = ALL_LISTS.find(each => each.name === name);
  if (list === undefined)
    throw createBadRequest(
      `list: ${describeWrongWord(
        name ?? '',
        ALL_LISTS.map(each => each.name),
      )}`,
    );
  assertMayReadList(token, list);
  const parameters = parseParameters(request, ['list', ...listSelectors(list)]);
  const body = await context.readers.withReader(async reader => {
    const selection = await parseSelection(reader, list, { parameters, token, now: context.now() });
    return await reader.inSnapshot(async snapshot => {
      // Rows that are not read cost nothing.
      const answer = await readList(snapshot, selection, { kind: 'all' });
      const allowed = removeForbiddenCaveats({ ...answer, rows: streamOf<Row>([]) }, token);
      return await serializePage(allowed, { next: null });
    });
  });
  await sendJson(request, response, body);
}

/** Sends the status of the mirror. */
async function sendStatus(context: ApiContext, { request, response, token }: ApiCall): Promise<void> {
  assertHasScope(token, 'status');
  parseParameters(request, []);
  const { notes, ...status } = await context.readers.withReader(reader => readStatus(reader, context.now()));
  await sendJson(request, response, toJson(toSnakeKeys({ ...status, ...toNotesData(notes) })));
}
