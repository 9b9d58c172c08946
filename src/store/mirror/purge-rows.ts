import { type RawBuilder, sql } from 'kysely';
import { RESOURCES } from '../../../migrations/mirror/current.js';
import type { MirrorPort } from '../../mirror/port/mirror-port.js';
import { isListResource } from '../../resources/lists.js';
import type { Table } from '../dialect.js';
import type { SqlBuilder } from '../sql/builder.js';
import { jsonRelation, tableRef, select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { RunBatch, Database } from '../statement.js';
import type { CertificateFiles } from './certificates.js';
import { assertNotFenced, buildFenceStatements } from './fence.js';
import { OVERWRITE_DELETED, LOCK_COUNTER } from './forget-people.js';
import type { OrganizationParam } from './list-states.js';

/** How many rows one transaction removes. */
const BATCH_SIZE = 500;

type OlderRows = OrganizationParam & {
  /** The highest version of the rows. */
  readonly last: number;
};

const UNINSTALL = prepared(({ db }, { organizationId }: Params<OrganizationParam>) =>
  db
    .updateTable('mirror.installations')
    .set({ state: 'uninstalled' })
    .where('organization_id', '=', organizationId),
);
const LIST_FILES = prepared(({ db }, { organizationId }: Params<OrganizationParam>) =>
  db
    .selectFrom('mirror.certificates_history')
    .select('file')
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('file', 'is not', null)
    .$narrowType<{ file: string }>(),
);
const LIST_NEW_INSTALLATIONS = prepared(({ db }, { organizationId, last }: Params<OlderRows>) =>
  db
    .selectFrom('mirror.installations')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('version', '>', last)
    .where('state', '<>', 'uninstalled')
    .orderBy('id'),
);
const selectRetirementIds = (
  { db }: SqlBuilder,
  operator: '=' | '<>',
  { organizationId }: Params<OrganizationParam>,
) =>
  db
    .selectFrom('mirror.retirements_history')
    .select('id')
    .where('organization_id', operator, organizationId)
    .union(
      db
        .selectFrom('mirror.certificates_history')
        .select('retirement_id as id')
        .where('organization_id', operator, organizationId),
    );
/** Leaves out retirements that another organization has as well. */
const LIST_OWN_RETIREMENTS = prepared((builder, params: Params<OrganizationParam>) =>
  builder.db
    .selectFrom(selectRetirementIds(builder, '=', params).as('own'))
    .select('id')
    .except(builder.db.selectFrom(selectRetirementIds(builder, '<>', params).as('others')).select('id')),
);
const REMOVE_SYNCS = prepared(({ db }, { organizationId }: Params<OrganizationParam>) =>
  db
    .deleteFrom('mirror.syncs')
    .where('id', 'in', eb =>
      eb
        .selectFrom('mirror.syncs')
        .select('id')
        .where('organization_id', '=', organizationId)
        .limit(sql.lit(BATCH_SIZE)),
    )
    .returning('id'),
);

type PurgedResource = (typeof RESOURCES)[number];
type OwnedResource = Extract<PurgedResource, { readonly owner: string }>;
type PurgedTable = 'mirror.past' | `mirror.${PurgedResource['table']}`;
/** A table with rows of organizations, and the condition that a row belongs to one organization. */
interface OwnedTable<Name> {
  readonly table: Name;
  readonly isOwned: (organizationId: RawBuilder<string>) => RawBuilder<unknown>;
}

const past = tableRef('mirror.past');
const isPastOf = (...resources: readonly PurgedResource['resource'][]) =>
  sql`${past.resource} IN (${sql.join(resources.map(resource => sql.lit(resource)))})`;

/**
 * Returns the tables with the rows of some resources, each with the condition that a row belongs to an organization.
 * `mirror.past`, the table of past versions, comes first.
 */
function listOwnedTables(resources: readonly OwnedResource[]): OwnedTable<PurgedTable>[] {
  const isPast = isPastOf(...resources.map(({ resource }) => resource));
  return [
    {
      table: 'mirror.past',
      isOwned: organizationId => sql`${isPast} AND ${past.organization_id} = ${organizationId}`,
    },
    ...resources.map(
      ({ table, owner }): OwnedTable<PurgedTable> => ({
        table: `mirror.${table}`,
        isOwned: organizationId => sql`${sql.id(owner)} = ${organizationId}`,
      }),
    ),
  ];
}
const isOwnedResource = (resource: PurgedResource): resource is OwnedResource => resource.owner !== null;
const OWNED_RESOURCES = RESOURCES.filter(isOwnedResource);
/** The row with the organization's name is removed last, because a person who repeats the purge finds the organization by name. */
const OWNED_LISTS = OWNED_RESOURCES.filter(({ resource }) => isListResource(resource)).toSorted(
  (a, b) => Number(a.owner === 'id') - Number(b.owner === 'id'),
);
const OWNED_TABLES = {
  certificates: listOwnedTables(OWNED_RESOURCES.filter(({ resource }) => resource === 'certificates')),
  lists: listOwnedTables(OWNED_LISTS),
  installations: listOwnedTables(OWNED_RESOURCES.filter(({ resource }) => resource === 'installation')),
};

/**
 * Builds a DELETE of at most `BATCH_SIZE` rows that meet a condition. The DELETE returns the version numbers of the deleted rows.
 */
function buildBatchDelete(table: PurgedTable, condition: RawBuilder<unknown>) {
  const rows = tableRef(table);
  return sqlStatement`DELETE FROM ${rows()} WHERE ${rows.version} IN (
      SELECT ${rows.version} FROM ${rows()} WHERE ${condition} LIMIT ${BATCH_SIZE})
    RETURNING ${select({ version: rows.version })}`;
}
const removeOlder = ({ table, isOwned }: OwnedTable<PurgedTable>) =>
  prepared((_, { organizationId, last }: Params<OlderRows>) =>
    buildBatchDelete(table, sql`${isOwned(organizationId)} AND ${tableRef(table).version} <= ${last}`),
  );
const REMOVE_OLDER = {
  certificates: OWNED_TABLES.certificates.map(removeOlder),
  lists: OWNED_TABLES.lists.map(removeOlder),
} as const;

const BOOKKEEPING_TABLES = [
  'mirror.syncs',
  'mirror.unchanged_spans',
  'mirror.resource_states',
  'mirror.project_references',
  'mirror.awaited_installations',
  'mirror.certificate_sums',
  'mirror.freshness_facts',
] as const;
const OWNED_BOOKKEEPING = BOOKKEEPING_TABLES.map(table => ({
  table,
  isOwned: (organizationId: RawBuilder<string>) =>
    sql`${tableRef(table).organization_id} = ${organizationId}`,
}));
/** Remove the remaining rows of an organization in one transaction, after most rows were removed in batches. */
const REMOVE_REST = [
  ...OWNED_TABLES.certificates,
  ...OWNED_TABLES.lists,
  ...OWNED_TABLES.installations,
  ...OWNED_BOOKKEEPING,
].map(({ table, isOwned }) =>
  prepared(
    (_, { organizationId }: Params<OrganizationParam>) =>
      sqlStatement`DELETE FROM ${tableRef(table)()} WHERE ${isOwned(organizationId)}`,
  ),
);

/** Remove members of all organizations. */
const REMOVE_MEMBERS = [
  prepared(() => buildBatchDelete('mirror.past', isPastOf('members'))),
  prepared(() => buildBatchDelete('mirror.members', sql`true`)),
];
const REMOVE_STATES_OF_MEMBERS = [
  prepared(({ db }) => db.deleteFrom('mirror.resource_states').where('resource', '=', 'members')),
  prepared(({ db }) => db.deleteFrom('mirror.freshness_facts').where('resource', '=', 'members')),
];

const fileList = jsonRelation('given', { file: 'text' });
/** Returns the given files to which a current or past certificate refers. The index of past files has the same condition. */
const LIST_REFERENCED_FILES = prepared(({ fn }, { files }: Params<{ readonly files: Table }>) => {
  const certificate = tableRef('mirror.certificates');
  const pastFile = fn.pastCell(past.cells, 'file');
  const isGiven = sql`IN (SELECT ${fileList.columns.file} FROM ${fileList.from(fn, files)})`;
  return sqlStatement`SELECT ${select({ file: certificate.file })} FROM ${certificate()} WHERE ${certificate.file} ${isGiven}
    UNION SELECT ${pastFile} FROM ${past()} WHERE ${past.resource} = 'certificates' AND ${pastFile} ${isGiven}`;
});

/**
 * Returns the write claims of an organization's two parts, `certificates` and `data`. Transactions lock them in this order to
 * prevent deadlocks.
 */
function createClaimsOfParts(organizationId: string, claim: number) {
  const certificates = { organizationId, part: 'certificates', claim };
  return { certificates, data: { ...certificates, part: 'data' } };
}

/**
 * Creates the methods of `MirrorPort` that remove all rows of one organization, with their history. Fencing tokens stay, so
 * that an old claim cannot write the rows again. The last transaction also removes rows that reads wrote during the purge. A
 * read that began before that transaction cannot write any more, because it may have compared its answer with rows that are now
 * gone.
 */
export function createRemoval(
  { read, transact }: Database,
  certificateFiles: CertificateFiles,
): Pick<MirrorPort, 'beginPurge' | 'removeRows' | 'endPurge' | 'removeUnreferencedFiles'> {
  /**
   * Removes the PDFs in `files` to which no certificate refers, and returns how many. The caller must have locked the version
   * counter, so that no certificate starts to refer to one of them meanwhile.
   */
  async function removeUnreferencedPdfs(batch: RunBatch, files: readonly string[]): Promise<number> {
    const [rows] = await batch(
      LIST_REFERENCED_FILES({ files: fileList.toTable(files.map(file => ({ file }))) }),
    );
    const referenced = new Set(rows.map(({ file }) => file));
    const unreferenced = files.filter(file => !referenced.has(file));
    return unreferenced.length === 0 ? 0 : await certificateFiles.remove(batch, unreferenced);
  }

  return {
    beginPurge: async (organizationId, claim) => {
      const { certificates, data } = createClaimsOfParts(organizationId, claim);
      const last = await transact(async batch => {
        const [, , certificatesFence, , dataFence, , counter] = await batch(
          OVERWRITE_DELETED(),
          ...buildFenceStatements(certificates),
          ...buildFenceStatements(data),
          UNINSTALL({ organizationId }),
          LOCK_COUNTER(),
        );
        assertNotFenced(certificatesFence, certificates);
        assertNotFenced(dataFence, data);
        return counter[0]?.last ?? 0;
      });
      const [retirements] = await read(LIST_OWN_RETIREMENTS({ organizationId }));
      return { lastVersion: last, retirementIds: retirements.map(({ id }) => id) };
    },
    removeRows: scope =>
      transact(async batch => {
        await batch(OVERWRITE_DELETED());
        const statements =
          scope === 'members'
            ? REMOVE_MEMBERS.map(remove => remove())
            : REMOVE_OLDER[scope.kind].map(remove => remove(scope));
        for (const statement of statements) {
          const [removed] = await batch(statement);
          if (removed.length > 0) return removed.length;
        }
        if (scope === 'members') {
          await batch(LOCK_COUNTER(), ...REMOVE_STATES_OF_MEMBERS.map(remove => remove()));
          return 0;
        }
        return scope.kind === 'certificates' ? 0 : (await batch(REMOVE_SYNCS(scope)))[0].length;
      }),
    endPurge: (organizationId, last, claim) =>
      transact(async batch => {
        const { certificates, data } = createClaimsOfParts(organizationId, claim);
        const [, certificatesFence, , dataFence, , rows, installations] = await batch(
          ...buildFenceStatements(certificates),
          ...buildFenceStatements(data),
          LOCK_COUNTER(),
          LIST_FILES({ organizationId }),
          LIST_NEW_INSTALLATIONS({ organizationId, last }),
        );
        assertNotFenced(certificatesFence, certificates);
        assertNotFenced(dataFence, data);
        await batch(...REMOVE_REST.map(remove => remove({ organizationId })));
        const removed = await removeUnreferencedPdfs(
          batch,
          rows.map(({ file }) => file),
        );
        return { removedFiles: removed, newInstallationIds: installations.map(({ id }) => id) };
      }),
    removeUnreferencedFiles: files =>
      transact(async batch => {
        await batch(LOCK_COUNTER());
        return await removeUnreferencedPdfs(batch, files);
      }),
  };
}
