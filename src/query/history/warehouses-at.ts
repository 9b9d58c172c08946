/** Adds up what was in the warehouses at a past instant. */
import { sql } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { type Answer, streamOf, findAmountCaveats, totalsOfSums } from '../answer/answer.js';
import { readCoverageAt, selectKnownIds, toNotesAt } from './as-of.js';
import { buildValidAtCondition } from '../read-one.js';
import { BY_PROJECT, type CreditSum, toExactSum, TOTAL_COLUMNS } from '../sums.js';

interface WarehousesAtRequest {
  readonly at: string;
  /** Null for all organizations. */
  readonly organizationIds: readonly string[] | null;
  /** Null for all projects. */
  readonly projectId: string | null;
}

/** Adds up the warehouses at an instant by project, vintage and credit type. Organizations whose warehouse was unknown are left out. */
export async function readWarehousesAt(
  reader: Reader,
  { at, organizationIds, projectId }: WarehousesAtRequest,
): Promise<Answer<CreditSum>> {
  const allLists = await readCoverageAt(reader, { resource: 'warehouse', at, organizationId: null });
  const lists = allLists.filter(list => organizationIds?.includes(list.organizationId) !== false);
  const credits = queryBuilder
    .selectFrom('mirror.warehouse_credits_history')
    .where(buildValidAtCondition(at))
    .where('organization_id', 'in', selectKnownIds(lists))
    .where(projectId === null ? sql<boolean>`1 = 1` : sql<boolean>`project_id = ${projectId}`);
  const sums = await reader.all(
    BY_PROJECT.reduce((query, column) => query.orderBy(column, order => order.asc().nullsFirst()), credits)
      .select(BY_PROJECT)
      .select(TOTAL_COLUMNS)
      .groupBy(BY_PROJECT),
  );
  const rows = sums.map(toExactSum);
  const totals = totalsOfSums(rows);
  const notes = toNotesAt(at, lists);
  return {
    ...notes,
    rows: streamOf(rows),
    totals,
    caveats: [...notes.caveats, ...findAmountCaveats(totals)],
  };
}
