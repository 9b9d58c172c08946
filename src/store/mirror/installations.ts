import { sql } from 'kysely';
import { computeVersionInstant } from '../../mirror/version-clock.js';
import type { InstallationRead, MirrorPort } from '../../mirror/port/mirror-port.js';
import { formatInstant } from '../../resources/sql-values.js';
import {
  INSTALLATIONS,
  type InstallationColumns,
  toInstallationValues,
} from '../../resources/installations.js';
import type { InstallationState } from '../contract/states.js';
import type { Table } from '../dialect.js';
import { insertFrom, jsonRelation, tableRef, sqlStatement } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { Database } from '../statement.js';
import { assertNotFenced, buildFenceStatements } from './fence.js';
import { buildStateInsert } from './list-states.js';
import { buildVersionReservation, toCauseColumns } from './syncs.js';
import { getVersionStatements } from './row-versions.js';

type InstallationId = { readonly id: string };
type InstallationContent = Pick<InstallationColumns, 'permissions' | 'document'> & { readonly state: string };

const LIST_COLUMNS = ['id', 'organization_id as organizationId', 'state', 'permissions'] as const;
const LIST_ALL = prepared(({ db }) =>
  db.selectFrom('mirror.installations').select(LIST_COLUMNS).orderBy('id'),
);
const LIST_ONE = prepared(({ db }, { id }: Params<InstallationId>) =>
  db.selectFrom('mirror.installations').select(LIST_COLUMNS).where('id', '=', id),
);
const READ_ROW = prepared(({ db }, { id }: Params<InstallationId>) =>
  db.selectFrom('mirror.installations').selectAll().where('id', '=', id),
);
const REMOVE_AWAITED = prepared(({ db }, { id }: Params<InstallationId>) =>
  db.deleteFrom('mirror.awaited_installations').where('id', '=', id),
);
type EndedSync = ReturnType<typeof toCauseColumns> & {
  readonly organizationId: string | null;
  readonly trigger: string;
  readonly claim: number;
  readonly startedAt: string;
  readonly arrivedAt: string;
  readonly endedAt: string;
  readonly added: number;
  readonly changed: number;
};
/** Inserts a sync that has ended. It wrote one row, with the newest version. */
const INSERT_SYNC = prepared(({ db }, params: Params<EndedSync>) =>
  db
    .insertInto('mirror.syncs')
    .values(eb => ({
      organization_id: params.organizationId,
      resource: 'installation',
      trigger: params.trigger,
      claim: params.claim,
      started_at: params.startedAt,
      finished_at: params.endedAt,
      state: 'complete',
      rows_added: params.added,
      rows_changed: params.changed,
      job_id: params.job_id,
      newest_delivery_id: params.newest_delivery_id,
      last_answer_at: params.arrivedAt,
      changes_up_to: eb.selectFrom('mirror.version_counter').select('last'),
    }))
    .returning('id'),
);

const own = tableRef('mirror.installations');
const rowList = jsonRelation('given', {
  version: 'int',
  id: 'text',
  organization_id: 'text',
  app_id: 'text',
  state: 'text',
  permissions: 'json',
  created_at: 'instant',
  updated_at: 'instant',
  valid_from: 'instant',
  sync_id: 'int',
  document: 'text',
});
/** Updates a stored row instead of deleting and inserting it, so that a transaction that waits for its lock finds the new version. */
const UPSERT_ROW = prepared(({ fn }, { rows }: Params<{ readonly rows: Table }>) => {
  const { columns } = rowList;
  const insert = insertFrom(
    'mirror.installations',
    { ...columns, state: columns.state.$castTo<InstallationState>() },
    sql`FROM ${rowList.from(fn, rows)} WHERE true`,
  );
  const updates = Object.keys(columns).map(name => sql`${sql.id(name)} = ${sql.id('excluded', name)}`);
  return sqlStatement`${insert} ON CONFLICT (${own.id}) DO UPDATE SET ${sql.join(updates)}`;
});

/** Creates the methods of `MirrorPort` that store installations of the app. */
export function createInstallations({
  read: runRead,
  transact,
}: Database): Pick<MirrorPort, 'listInstallations' | 'writeInstallation'> {
  const versions = getVersionStatements(INSTALLATIONS);
  return {
    listInstallations: async id => (await runRead(id === undefined ? LIST_ALL() : LIST_ONE({ id })))[0],
    writeInstallation: (id, fields, read) =>
      transact(async batch => {
        const [, [previous]] = await batch(REMOVE_AWAITED({ id }), READ_ROW({ id }));
        const organizationId = (fields ?? previous)?.organization_id ?? null;
        if (organizationId !== null) {
          const claim = { organizationId, part: 'data', claim: read.claim };
          const [, fences] = await batch(
            ...buildFenceStatements(claim),
            buildStateInsert(organizationId, read.resources),
          );
          assertNotFenced(fences, claim);
        }
        const [[stored], [past]] = await batch(READ_ROW({ id }), versions.selectLastEnds([[id]]));
        const columns = fields ?? stored;
        if (columns === undefined) return 'unchanged';
        const row = { ...columns, state: read.state };
        if (stored !== undefined && hasSameContent(stored, row)) {
          const [, ...cells] = toInstallationValues({
            ...row,
            organization_id: organizationId ?? stored.organization_id,
          });
          await batch(versions.repair([{ version: stored.version, cells }]));
          return 'unchanged';
        }
        const [[last], [sync]] = await batch(
          buildVersionReservation(1),
          INSERT_SYNC(toEndedSync(organizationId, read, stored === undefined)),
        );
        const version = last?.last ?? 0;
        const syncId = sync?.id ?? 0;
        const validFrom = computeVersionInstant(
          formatInstant(read.arrivedAt),
          stored?.valid_from ?? past?.['valid_to'] ?? null,
        );
        const end = stored && {
          version: stored.version,
          at: validFrom,
          changeNumber: version,
          isRemoved: false,
        };
        await batch(
          end === undefined ? null : versions.copyToPast([end], syncId),
          UPSERT_ROW({
            rows: rowList.toTable([{ ...row, version, valid_from: validFrom, sync_id: syncId }]),
          }),
        );
        return stored === undefined ? 'added' : 'changed';
      }),
  };
}

/**
 * Returns the values of the row in `syncs` for a finished read of one installation. `isNew` is true if the installation was not stored
 * before, and false if the read changed the stored installation.
 */
function toEndedSync(organizationId: string | null, read: InstallationRead, isNew: boolean): EndedSync {
  return {
    organizationId,
    trigger: read.trigger,
    claim: read.claim,
    startedAt: formatInstant(read.startedAt),
    arrivedAt: formatInstant(read.arrivedAt),
    endedAt: formatInstant(read.endedAt),
    added: Number(isNew),
    changed: Number(!isNew),
    ...toCauseColumns(read.cause),
  };
}

/**
 * Returns whether the state, permissions and document of an installation are unchanged. The document does not contain the
 * permissions.
 */
function hasSameContent(stored: InstallationContent, row: InstallationContent): boolean {
  return (
    stored.state === row.state && stored.permissions === row.permissions && stored.document === row.document
  );
}
