import { type RawBuilder, sql } from 'kysely';
import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';
import type { EvidencePort } from '../../evidence/port.js';
import { tableRef, select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { EvidenceDatabase } from './evidence-database.js';
import type { PlaceRange } from './leaves.js';

const leaf = tableRef('evidence.leaves');

const RESOURCE_NAMES = RESOURCES.map(({ resource }) => resource);

type ReadsBefore = { readonly organizationId: string; readonly before: number };
/** Returns the newest complete read of each resource, and how many reads failed after it. */
const LIST_READS = prepared((_, { organizationId, before }: Params<ReadsBefore>) => {
  const read = tableRef('evidence.leaves', 'l');
  const newest = tableRef('evidence.leaves', 'c');
  const resource = sql.id<string>('r', 'resource');
  const isRead = (isComplete: 0 | 1): RawBuilder<boolean> =>
    sql`${read.subject} = ${organizationId} AND ${read.resource} = ${resource}
      AND ${read.is_complete} = ${isComplete} AND ${read.place} < ${before}`;
  const names = RESOURCE_NAMES.map(name => sql`SELECT ${name} AS resource`);
  return sqlStatement`SELECT ${select({
    resource,
    place: sql<number | null>`${newest.place}`,
    read_at: newest.read_at,
    failed: sql<number>`(SELECT count(*) FROM ${read()}
      WHERE ${isRead(0)} AND (${newest.read_at} IS NULL OR ${read.read_at} > ${newest.read_at}))`,
  })} FROM (${sql.join(names, sql` UNION ALL `)}) AS r LEFT JOIN ${newest()} ON ${newest.place} = (
    SELECT ${read.place} FROM ${read()} WHERE ${isRead(1)} ORDER BY ${read.read_at} DESC, ${read.place} DESC LIMIT 1)`;
});

const COUNT_FAILED_READS = prepared(({ db, fn }, { from, to }: Params<PlaceRange>) =>
  db
    .selectFrom('evidence.leaves')
    .select(['subject', fn.cast('int', sql<number>`sum(1 - ${leaf.is_complete})`).as('failed')])
    .where('place', '>=', from)
    .where('place', '<', to)
    .where('is_complete', 'is not', null)
    .where('subject', 'is not', null)
    .$narrowType<{ subject: string }>()
    .groupBy('subject')
    .orderBy('subject'),
);

/** Creates the methods of `EvidencePort` that list which reads of the registry are in the evidence log. */
export function createSealedReads({
  runOnLog,
}: EvidenceDatabase): Pick<EvidencePort, 'listSealedReads' | 'listReadSubjects'> {
  return {
    listSealedReads: async (organizationId, before) => {
      const [reads] = await runOnLog(LIST_READS({ organizationId, before }));
      // A join may return the resources in any order, and the hash of their lines depends on it.
      return reads
        .filter(({ place, failed }) => place !== null || failed > 0)
        .toSorted((left, right) => (left.resource < right.resource ? -1 : 1));
    },
    listReadSubjects: async (from, to) => (await runOnLog(COUNT_FAILED_READS({ from, to })))[0],
  };
}
