import { type RawBuilder, sql, type UpdateObject } from 'kysely';
import type { AccessMark, ListState } from '../../mirror/port/read.js';
import type { MirrorPort } from '../../mirror/port/mirror-port.js';
import { formatInstant } from '../../resources/sql-values.js';
import type { Resource } from '../../resources/lists.js';
import type { Db } from '../contract/tables.js';
import type { Table } from '../dialect.js';
import { tableRef, jsonRelation, insertFrom } from '../sql/columns.js';
import { type Params, prepared, type ResultRow } from '../sql/prepared.js';
import type { Database } from '../statement.js';
import { assertNotFenced, buildFenceStatements } from './fence.js';

const state = tableRef('mirror.resource_states');
const sync = tableRef('mirror.syncs');

export type OrganizationParam = { readonly organizationId: string };
export type ListParam = OrganizationParam & { readonly resource: string };

const LIST_STATES = prepared(({ db }, { organizationId }: Params<OrganizationParam>) =>
  db
    .selectFrom('mirror.resource_states')
    .select(eb => [
      'resource',
      'rows',
      eb('open_sync', 'is not', null).as('hasOpenSync'),
      'doubted_at as doubtedAt',
      'doubted',
      'stamp_at as stampAt',
      eb('owner_named', '=', 1).as('answersNameOrganization'),
      'outcome',
      'page_digests as pageDigests',
      eb
        .case()
        .when('not_offered_at', 'is not', null)
        .then('not_offered' as const)
        .when(eb.and([eb('no_permission_at', 'is not', null), eb('refusals', '>', 0)]))
        .then('refused' as const)
        .end()
        .as('declined'),
      'refusals',
      'attempted_at as attemptedAt',
      'as_of as dataAsOf',
      eb.fn.coalesce('duration_ms', eb.lit(0)).as('durationMs'),
      eb('every_seconds', '*', 1000).as('everyMs'),
      eb('answer_text', 'is not', null).as('hadUnexpectedFormat'),
      'page_size as pageSize',
    ])
    .where('organization_id', '=', organizationId)
    .$narrowType<{ resource: Resource }>(),
);

/** Converts a row of the table `resource_states` to a `ListState`. SQLite returns 0 and 1 instead of booleans. */
function toListState({
  resource: _,
  hasOpenSync,
  answersNameOrganization,
  hadUnexpectedFormat,
  attemptedAt,
  dataAsOf,
  ...rest
}: ResultRow<typeof LIST_STATES>): ListState {
  return {
    ...rest,
    hasOpenSync: Boolean(hasOpenSync),
    answersNameOrganization: Boolean(answersNameOrganization),
    hadUnexpectedFormat: Boolean(hadUnexpectedFormat),
    attemptedAt: toMilliseconds(attemptedAt),
    dataAsOf: toMilliseconds(dataAsOf),
  };
}

export function toMilliseconds(instant: string | null): number | null {
  return instant === null ? null : Date.parse(instant);
}

type FencedClaim = OrganizationParam & { readonly part: string; readonly claim: number };
/** Ends the syncs that earlier claims left running. */
const END_OPEN_SYNCS = prepared(
  ({ db }, { organizationId, part, claim, at }: Params<FencedClaim & { readonly at: string }>) =>
    db
      .updateTable('mirror.syncs')
      .set({
        state: 'failed',
        finished_at: at,
        error_code: 'interrupted',
        error: 'the work was interrupted before it ended',
      })
      .where('state', '=', 'running')
      .where('organization_id', '=', organizationId)
      .where('claim', '<', claim)
      .where(sql<boolean>`(${sync.resource} = 'certificates') = (${part} = 'certificates')`),
);

const resourceList = jsonRelation('given', { resource: 'text' });
type Resources = OrganizationParam & { readonly resources: Table };

const ENSURE_STATES = prepared(({ fn }, { organizationId, resources }: Params<Resources>) =>
  insertFrom(
    'mirror.resource_states',
    { organization_id: organizationId, resource: resourceList.columns.resource },
    sql`FROM ${resourceList.from(fn, resources)} WHERE true ON CONFLICT DO NOTHING`,
  ),
);

/** Builds the statement that inserts an empty row of `resource_states` for each resource that has none. */
export function buildStateInsert(organizationId: string, resources: readonly string[]) {
  return ENSURE_STATES({ organizationId, resources: toResourceTable(resources) });
}

function toResourceTable(resources: readonly string[]): Table {
  return resourceList.toTable(resources.map(resource => ({ resource })));
}

/** `no_permission` also clears errors of earlier requests, because the resource is no longer requested. */
const MARK_ACCESS = {
  no_permission: prepareAccessUpdate(at => ({
    no_permission_at: sql<string>`coalesce(${state.no_permission_at}, ${at})`,
    refusals: 0,
    not_offered_at: null,
    error_code: null,
    error: null,
    failing_since: null,
    webhook_failed: 0,
  })),
  refused: prepareAccessUpdate(at => ({
    no_permission_at: sql<string>`coalesce(${state.no_permission_at}, ${at})`,
    refusals: sql<number>`${state.refusals} + 1`,
    not_offered_at: null,
  })),
  not_offered: prepareAccessUpdate(at => ({
    not_offered_at: sql<string>`coalesce(${state.not_offered_at}, ${at})`,
    refusals: sql<number>`${state.refusals} + 1`,
    no_permission_at: null,
  })),
} as const satisfies Record<AccessMark, unknown>;

/**
 * Prepares an UPDATE that stores why some resources of an organization cannot be read. `toColumns` receives the time at which this was
 * noticed, and returns the new column values.
 */
function prepareAccessUpdate(
  toColumns: (at: RawBuilder<string>) => UpdateObject<Db, 'mirror.resource_states'>,
) {
  return prepared(
    ({ db, fn }, { organizationId, resources, at }: Params<Resources & { readonly at: string }>) =>
      db
        .updateTable('mirror.resource_states')
        .set(toColumns(at))
        .where('organization_id', '=', organizationId)
        .where(
          sql<boolean>`${state.resource} IN (SELECT ${resourceList.columns.resource} FROM ${resourceList.from(fn, resources)})`,
        ),
  );
}

/**
 * Creates the methods of `MirrorPort` for the states of an organization's lists and other resources, and for its fencing
 * tokens.
 */
export function createListStates({
  read,
  transact,
}: Database): Pick<MirrorPort, 'readListStates' | 'raiseFence' | 'markAccess'> {
  return {
    readListStates: async organizationId => {
      const [rows] = await read(LIST_STATES({ organizationId }));
      return new Map(rows.map(row => [row.resource, toListState(row)] as const));
    },
    raiseFence: ({ organizationId, part, claim }, at) =>
      transact(async batch => {
        const writeClaim = { organizationId, part, claim };
        const endSyncs = END_OPEN_SYNCS({ ...writeClaim, at: formatInstant(at) });
        const [, fences] = await batch(...buildFenceStatements(writeClaim), endSyncs);
        assertNotFenced(fences, writeClaim);
      }),
    markAccess: (mark, claim, resources, at) =>
      transact(async batch => {
        const { organizationId } = claim;
        const marked = MARK_ACCESS[mark]({
          organizationId,
          resources: toResourceTable(resources),
          at: formatInstant(at),
        });
        const [, fences] = await batch(
          ...buildFenceStatements(claim),
          buildStateInsert(organizationId, resources),
          marked,
        );
        assertNotFenced(fences, claim);
      }),
  };
}
