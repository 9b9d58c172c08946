import type { Express } from 'express';
import { findOrganizationId } from './change-route.js';
import { COMPARABLE_LISTS, compareList } from '../query/history/comparison.js';
import { listOrderColumns } from '../query/history/compared-rows.js';
import { serializeComparison } from '../query/history/describe-comparison.js';
import type { List } from '../query/lists/list-type.js';
import { toJson } from '../query/answer/serialize.js';
import { describeWrongWord } from '../text/spelling.js';
import { assertMayReadList, chooseOrganization } from './access.js';
import { type ApiCall, type ApiContext, createEndpoint } from './api-context.js';
import { formatCursor, parseCursor } from './cursor.js';
import { type Parameters, parseInstant, parseLimit, parseParameters } from './parameters.js';
import { createBadRequest } from './problem.js';
import { sendJson } from './respond.js';

const PARAMETERS = ['list', 'from', 'to', 'organization_id', 'limit', 'after'];

/** Adds the route /v1/compare, which sends the rows of a list that differ between two instants. */
export function addCompareRoute(app: Express, context: ApiContext): void {
  app.get(
    '/v1/compare',
    createEndpoint(context, call => sendComparison(context, call)),
  );
}

/** Sends one page of the rows of a list that differ between two instants, with their counts and amounts. */
async function sendComparison(context: ApiContext, { request, response, token }: ApiCall): Promise<void> {
  const parameters = parseParameters(request, PARAMETERS);
  const list = parseComparableList(parameters);
  assertMayReadList(token, list);
  const { from, to } = parseInstants(parameters, context.now());
  const limit = parseLimit(parameters);
  const organization = chooseOrganization(token, parameters);
  const body = await context.readers.withReader(async reader => {
    const organizationId = organization === null ? null : await findOrganizationId(reader, organization);
    const order = listOrderColumns(list).map(name => [name, 'asc'] as const);
    // A cursor is only valid for the same list, instants and organization.
    const cursorRequest = { list: { ...list, order }, at: toJson([from, to, organizationId]), filters: [] };
    const cursor = parameters.get('after');
    const after = cursor === null ? null : parseCursor(cursorRequest, cursor);
    return await reader.inSnapshot(async snapshot => {
      const answer = await compareList(snapshot, { list, organizationId, from, to }, { limit, after });
      const caveats = answer.caveats.filter(({ code }) => code !== 'limited');
      const next = answer.next === null ? null : formatCursor(cursorRequest, answer.next);
      const chunks: string[] = [];
      for await (const chunk of serializeComparison({ ...answer, caveats }, toJson, { next }))
        chunks.push(chunk);
      return chunks.join('');
    });
  });
  await sendJson(request, response, body);
}

/** Finds the list that the parameter `list` names. Throws a 400 problem unless it can be compared. */
function parseComparableList(parameters: Parameters): List {
  const name = parameters.get('list') ?? '';
  const list = COMPARABLE_LISTS.find(each => each.name === name);
  if (list !== undefined) return list;
  const names = COMPARABLE_LISTS.map(each => each.name);
  throw createBadRequest(`list: ${describeWrongWord(name, names)}`);
}

/**
 * Parses the parameters `from` and `to`. A missing `to` means now. Throws a 400 problem if `from` is missing or later than `to`.
 */
function parseInstants(parameters: Parameters, now: number): { readonly from: string; readonly to: string } {
  const from = parseInstant(parameters, 'from', now);
  const to = parseInstant(parameters, 'to', now) ?? new Date(now).toISOString();
  if (from === null) throw createBadRequest('from: expected the earlier date, such as 2024-12-31.');
  if (from > to) throw createBadRequest(`to: expected ${from} or later, got ${to}.`);
  return { from, to };
}
