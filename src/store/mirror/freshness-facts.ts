import { sql } from 'kysely';
import type { MirrorPort } from '../../mirror/port/mirror-port.js';
import { formatInstant } from '../../resources/sql-values.js';
import type { Table } from '../dialect.js';
import type { SqlBuilder } from '../sql/builder.js';
import { insertFrom, jsonRelation, tableRef, sqlStatement } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { Database } from '../statement.js';
import { LOCK_COUNTER } from './forget-people.js';

const awaited = tableRef('mirror.awaited_installations');
const installation = tableRef('mirror.installations');
const awaitedList = jsonRelation('given', { id: 'text', organization_id: 'text' });
type AwaitedInstallations = { readonly installations: Table; readonly at: string };
/** Removes installations that are no longer awaited. */
const REMOVE_AWAITED = prepared(
  ({ fn }, { installations, at }: Params<AwaitedInstallations>) =>
    sqlStatement`DELETE FROM ${awaited()} WHERE ${awaited.id} IN (
      SELECT ${awaited.id} FROM ${awaited()} WHERE ${awaited.known_at} < ${at}
        AND ${awaited.id} NOT IN (SELECT ${awaitedList.columns.id} FROM ${awaitedList.from(fn, installations)})
      ORDER BY ${awaited.id} ${fn.forUpdate})`,
);
/** Inserts awaited installations. Adds the organization of a stored one if it was unknown. */
const UPSERT_AWAITED = prepared(({ fn }, { installations, at }: Params<AwaitedInstallations>) => {
  const { id, organization_id: organizationId } = awaitedList.columns;
  const stored = tableRef('mirror.awaited_installations', 'awaited_installations');
  const excluded = tableRef('mirror.awaited_installations', 'excluded');
  const insert = insertFrom(
    'mirror.awaited_installations',
    { id, organization_id: organizationId, known_at: fn.cast('instant', at) },
    sql`FROM ${awaitedList.from(fn, installations)}
      WHERE ${id} NOT IN (SELECT ${installation.id} FROM ${installation()}) ORDER BY ${id}`,
  );
  return sqlStatement`${insert}
    ON CONFLICT (${awaited.id}) DO UPDATE SET ${awaited.organization_id} = ${excluded.organization_id}
    WHERE ${stored.organization_id} IS NULL AND ${excluded.organization_id} IS NOT NULL`;
});

const findingCount = tableRef('mirror.finding_counts');
const findingList = jsonRelation('given', { finding: 'text' });
const REMOVE_FINDINGS = prepared(
  ({ fn }, { known }: Params<{ readonly known: Table }>) =>
    sqlStatement`DELETE FROM ${findingCount()} WHERE ${findingCount.finding} NOT IN (
      SELECT ${findingList.columns.finding} FROM ${findingList.from(fn, known)})`,
);
const countList = jsonRelation('given', { finding: 'text', rows: 'int' });
type FindingCounts = { readonly counts: Table; readonly at: string };
const UPSERT_FINDINGS = prepared(({ fn }, { counts, at }: Params<FindingCounts>) => {
  const { finding, rows } = countList.columns;
  const excluded = tableRef('mirror.finding_counts', 'excluded');
  const insert = insertFrom(
    'mirror.finding_counts',
    { finding, rows, counted_at: fn.cast('instant', at) },
    sql`FROM ${countList.from(fn, counts)} WHERE true ORDER BY ${finding}`,
  );
  return sqlStatement`${insert} ON CONFLICT (${findingCount.finding}) DO UPDATE SET
    ${findingCount.rows} = ${excluded.rows}, ${findingCount.counted_at} = ${excluded.counted_at}`;
});

/** Selects resources that were read completely and may still be read. Leaves out certificates and projects, which have no facts. */
const selectKnownResources = ({ db }: SqlBuilder) =>
  db
    .selectFrom('mirror.resource_states as state')
    .leftJoin('mirror.freshness_facts as fact', join =>
      join
        .onRef('fact.organization_id', '=', 'state.organization_id')
        .onRef('fact.resource', '=', 'state.resource'),
    )
    .select([
      'state.organization_id as organizationId',
      'state.resource',
      'state.as_of as dataAsOf',
      'fact.oldest_unread_at as oldestUnreadAt',
    ])
    .where('state.as_of', 'is not', null)
    .$narrowType<{ dataAsOf: string }>()
    .where('state.no_permission_at', 'is', null)
    .where('state.not_offered_at', 'is', null)
    .where('state.resource', 'not in', ['certificates', 'projects']);
const selectActiveOrganizations = ({ db }: SqlBuilder) =>
  db.selectFrom('mirror.installations').select('organization_id').where('state', '=', 'active');

/** Reads all facts in one statement, so that the unread deliveries come from the same report as the worker's last sign of life. */
const READ_FACTS = prepared(builder =>
  builder.db
    .selectFrom(eb =>
      eb
        .selectFrom('mirror.origin')
        .select(({ fn }) => fn.max<string | null>('worker_seen_at').as('workerSeenAt'))
        .as('origin'),
    )
    .leftJoin(
      selectKnownResources(builder)
        .where('fact.oldest_unread_at', 'is not', null)
        .where('state.organization_id', 'in', selectActiveOrganizations(builder))
        .as('unread'),
      join => join.onTrue(),
    )
    .select(eb => [
      'origin.workerSeenAt',
      eb
        .selectFrom('mirror.resource_states')
        .select(({ fn }) => fn.min<string | null>('as_of').as('earliest'))
        .where('resource', '<>', 'projects')
        .as('oldestCompleteReadAt'),
      'unread.organizationId',
      'unread.resource',
      'unread.dataAsOf',
      'unread.oldestUnreadAt',
    ]),
);
const LIST_RESOURCES = prepared((builder, { id }: Params<{ readonly id: string }>) =>
  selectKnownResources(builder).where(
    'state.organization_id',
    'in',
    selectActiveOrganizations(builder).where('id', '=', id),
  ),
);

const fact = tableRef('mirror.freshness_facts');
const factList = jsonRelation('given', {
  organization_id: 'text',
  resource: 'text',
  oldest_unread_at: 'instant',
});
type Facts = { readonly facts: Table };
const REMOVE_FACTS = prepared(({ fn }, { facts }: Params<Facts>) => {
  const { organization_id: organizationId, resource } = factList.columns;
  return sqlStatement`DELETE FROM ${fact()} WHERE (${fact.organization_id}, ${fact.resource}) NOT IN (
    SELECT ${organizationId}, ${resource} FROM ${factList.from(fn, facts)})`;
});
const UPSERT_FACTS = prepared(({ fn }, { facts }: Params<Facts>) => {
  const stored = tableRef('mirror.freshness_facts', 'freshness_facts');
  const excluded = tableRef('mirror.freshness_facts', 'excluded');
  const insert = insertFrom(
    'mirror.freshness_facts',
    factList.columns,
    sql`FROM ${factList.from(fn, facts)} WHERE true`,
  );
  return sqlStatement`${insert} ON CONFLICT (${fact.organization_id}, ${fact.resource}) DO UPDATE SET
    ${fact.oldest_unread_at} = ${excluded.oldest_unread_at}
    WHERE ${stored.oldest_unread_at} <> ${excluded.oldest_unread_at}`;
});
const SET_LISTED = prepared(({ db }, { listedAt }: Params<{ readonly listedAt: string }>) =>
  db.updateTable('mirror.origin').set({ listed_at: listedAt }),
);
const SET_WORKER_SEEN = prepared(({ db }, { at }: Params<{ readonly at: string }>) =>
  db.updateTable('mirror.origin').set({ worker_seen_at: at }),
);

/**
 * Creates the methods of `MirrorPort` that store and read what workers report: installations that were not read yet, deliveries that no
 * read has followed yet, and the results of checks. Programs that see the mirror but not the inbox rely on these reports.
 */
export function createFreshnessReports({
  read,
  transact,
}: Database): Pick<MirrorPort, 'readFreshnessFacts' | 'listKnownResources' | 'report'> {
  return {
    readFreshnessFacts: async () => {
      const [rows] = await read(READ_FACTS());
      const { workerSeenAt = null, oldestCompleteReadAt = null } = rows[0] ?? {};
      const waitingResources = rows.flatMap(({ organizationId, resource, dataAsOf, oldestUnreadAt }) =>
        organizationId === null || resource === null || dataAsOf === null
          ? []
          : [{ organizationId, resource, dataAsOf, oldestUnreadAt }],
      );
      return { workerSeenAt, oldestCompleteReadAt, waitingResources };
    },
    listKnownResources: async ids => {
      const results = await read(...ids.map(id => LIST_RESOURCES({ id })));
      return new Map(ids.map((id, index) => [id, results[index] ?? []]));
    },
    /** Locks the version counter, because a purge holds that lock while it removes facts. */
    report: async ({ at, awaitedInstallations, unreadDeliveries, findings, knownFindings, listedAt }) => {
      const awaitedRows = awaitedInstallations?.map(({ id, organizationId }) => ({
        id,
        organization_id: organizationId,
      }));
      const installations = awaitedRows && awaitedList.toTable(awaitedRows);
      const factRows = unreadDeliveries?.map(({ organizationId, resource, oldestUnreadAt }) => ({
        organization_id: organizationId,
        resource,
        oldest_unread_at: oldestUnreadAt,
      }));
      const facts = factRows && factList.toTable(factRows);
      const counts = findings && countList.toTable(findings);
      const known = findings && findingList.toTable(knownFindings?.map(finding => ({ finding })) ?? findings);
      await transact(batch =>
        batch(
          installations === undefined || facts === undefined ? null : REMOVE_AWAITED({ installations, at }),
          installations === undefined ? null : UPSERT_AWAITED({ installations, at }),
          ...(facts === undefined
            ? []
            : [LOCK_COUNTER(), REMOVE_FACTS({ facts }), UPSERT_FACTS({ facts }), SET_WORKER_SEEN({ at })]),
          known === undefined ? null : REMOVE_FINDINGS({ known }),
          counts === undefined ? null : UPSERT_FINDINGS({ counts, at }),
          listedAt === undefined ? null : SET_LISTED({ listedAt: formatInstant(listedAt) }),
        ),
      );
    },
  };
}
