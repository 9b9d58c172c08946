import type { SelectQueryBuilder } from 'kysely';

/** How many rows there are. */
export async function count<DB, TB extends keyof DB>(
  rows: SelectQueryBuilder<DB, TB, object>,
): Promise<number> {
  const counted = await rows
    .select(eb => eb.fn.countAll<number>().as('count'))
    .$castTo<{ count: number }>()
    .executeTakeFirstOrThrow();
  return counted.count;
}
