import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { ownerOf } from '../../resources/entry.js';
import { NULLS_FIRST, ofOne } from '../sql.js';
import { colourOf, FRESHNESS, type Standing } from '../freshness.js';
import { LISTS } from '../../resources/lists.js';

/** Resources that stand alike, as one; what reads it may set apart more. */
export function alike({ db }: Reader) {
  return db
    .selectFrom('freshness')
    .groupBy(eb => ['state', 'reason', eb('failing_since', 'is not', null)])
    .select(eb => [
      'state',
      'reason',
      eb.fn.max('failing_since').as('failingSince'),
      eb.fn.countAll<number>().as('resources'),
      eb.fn.sum<number>('rows').as('rows'),
      eb.fn.min('as_of').as('oldestAt'),
      eb.fn.max('as_of').as('asOf'),
      eb.fn.max('age_seconds').as('ageSeconds'),
    ]);
}

export type FreshnessSum = Awaited<ReturnType<typeof sumFreshness>>[number];

/** How many organizations stand so with a resource, and when theirs was last read completely. Of one, or of all that are known; the states in the order of their names. */
export async function sumFreshness(reader: Reader, resource: string, organizationId: string | null) {
  return await alike(reader)
    .where('resource', 'in', [resource, '*'])
    .where(ofOne(organizationId))
    .orderBy('state')
    .orderBy('reason')
    .orderBy('failingSince', NULLS_FIRST)
    .execute();
}

/** How many resources stand in each way that there is, how many of them fail, and how old the oldest complete read of them is; null where none was complete. */
export async function readAges(reader: Reader) {
  const all = await alike(reader).execute();
  return FRESHNESS.map(({ state, reason }) => {
    const found = all.filter(row => row.state === state && row.reason === reason);
    const failing = found.find(({ failingSince }) => failingSince !== null)?.resources ?? 0;
    const ages = found.flatMap(({ ageSeconds }) => ageSeconds ?? []);
    return {
      state,
      reason,
      resources: found.reduce((sum, row) => sum + row.resources, 0),
      failing,
      ageSeconds: ages.length === 0 ? null : Math.max(...ages),
    };
  });
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
  const rows = await db
    .selectFrom('freshness')
    .where('resource', '=', resource)
    .where(ofOne(organizationId))
    .select(['organization_id', 'state', 'reason', 'failing_since as failingSince'])
    .execute();
  const states = new Map<unknown, Standing>(rows.map(row => [row.organization_id, row]));
  return {
    areAllFresh: [...states.values()].every(each => colourOf(each) === 'good'),
    standingOf: row => states.get(String(row[owner])) ?? null,
  };
}
