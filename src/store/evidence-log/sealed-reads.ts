import { type RawBuilder, sql } from 'kysely';
import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';
import type { EvidencePort } from '../../evidence/port.js';
import { tableRef, select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { EvidenceDatabase } from './evidence-database.js';
import type { LeafIndexRange } from './leaves.js';

const leaf = tableRef('evidence.leaves');

const RESOURCE_NAMES = RESOURCES.map(({ resource }) => resource);

type ReadsBefore = { readonly organizationId: string; readonly beforeIndex: number };
/** Selects, for each resource, the newest complete read of an organization and the number of later reads that failed. */
const SUMMARIZE_READS = prepared((_, { organizationId, beforeIndex }: Params<ReadsBefore>) => {
  const read = tableRef('evidence.leaves', 'l');
  const newest = tableRef('evidence.leaves', 'c');
  const resource = sql.id<string>('r', 'resource');
  /** Returns the condition that a leaf is a complete, or an incomplete, read of the resource. */
  const isRead = (isComplete: 0 | 1): RawBuilder<boolean> =>
    sql`${read.subject} = ${organizationId} AND ${read.resource} = ${resource}
      AND ${read.is_complete} = ${isComplete} AND ${read.place} < ${beforeIndex}`;
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

const COUNT_FAILED_READS = prepared(({ db, fn }, { from, to }: Params<LeafIndexRange>) =>
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

/**
 * Creates the methods of `EvidencePort` that summarize the sealed reads of the registry. A read is sealed once the evidence log has
 * recorded it. `listSealedReads` returns, for each resource of an organization, the newest complete read and the number of failed reads
 * since. `listOrganizationsWithReads` returns the organizations that have reads in a part of the log, each with the number of its failed
 * reads.
 */
export function createSealedReads({
  runOnLog,
}: EvidenceDatabase): Pick<EvidencePort, 'listSealedReads' | 'listOrganizationsWithReads'> {
  return {
    listSealedReads: async (organizationId, beforeIndex) => {
      const [reads] = await runOnLog(SUMMARIZE_READS({ organizationId, beforeIndex }));
      // A join may return the resources in any order, and the hash of their lines depends on it.
      return reads
        .filter(({ place, failed }) => place !== null || failed > 0)
        .toSorted((left, right) => (left.resource < right.resource ? -1 : 1));
    },
    listOrganizationsWithReads: async (from, to) => (await runOnLog(COUNT_FAILED_READS({ from, to })))[0],
  };
}
