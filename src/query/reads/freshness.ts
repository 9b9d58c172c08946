import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { ownerOf } from '../../resources/entry.js';
import { NULLS_FIRST } from '../sql.js';
import { colourOf, type Standing } from '../freshness.js';
import { LISTS } from '../../resources/lists.js';

export type FreshnessSum = Awaited<ReturnType<typeof sumFreshness>>[number];

/** How many organizations stand so with a resource, and when theirs was last read completely. Of one, or of all that are known; the states in the order of their names. */
export async function sumFreshness({ db }: Reader, resource: string, organizationId: string | null) {
  let asked = db.selectFrom('freshness').where('resource', 'in', [resource, '*']);
  if (organizationId !== null) asked = asked.where('organization_id', '=', organizationId);
  return await asked
    .groupBy(eb => ['state', 'reason', eb('failing_since', 'is not', null)])
    .select(eb => [
      'state',
      'reason',
      eb.fn.max('failing_since').as('failingSince'),
      eb.fn.countAll<number>().as('organizations'),
      eb.fn.min('as_of').as('oldestAt'),
      eb.fn.max('as_of').as('newestAt'),
    ])
    .orderBy('state')
    .orderBy('reason')
    .orderBy('failingSince', NULLS_FIRST)
    .execute();
}

/** How fresh the rows of a list are. */
export interface States {
  readonly areAllFresh: boolean;
  /** How the list stands that a row stands in; null where it is none that is known. */
  readonly standingOf: (row: Readonly<Record<string, unknown>>) => Standing | null;
}

export async function* withFreshness(rows: AsyncIterable<Row>, { standingOf }: States): AsyncGenerator<Row> {
  for await (const row of rows) yield { ...row, freshness: standingOf(row)?.state ?? null };
}

/** Of one organization, or of all of them; null where rows stand in no list that is read. */
export async function readStates(
  { db }: Reader,
  resource: string | null,
  organizationId: string | null,
): Promise<States | null> {
  const [, entry] = Object.entries(LISTS).find(([name]) => name === resource) ?? [];
  const owner = entry === undefined ? null : ownerOf(entry);
  if (resource === null || owner === null) return null;
  let asked = db
    .selectFrom('freshness')
    .where('resource', '=', resource)
    .select(['organization_id', 'state', 'reason', 'failing_since as failingSince']);
  if (organizationId !== null) asked = asked.where('organization_id', '=', organizationId);
  const states = new Map<unknown, Standing>((await asked.execute()).map(row => [row.organization_id, row]));
  return {
    areAllFresh: [...states.values()].every(each => colourOf(each) === 'good'),
    standingOf: row => states.get(String(row[owner])) ?? null,
  };
}
