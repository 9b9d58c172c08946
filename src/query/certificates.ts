import { sql } from 'kysely';
import type { Reader } from '../store/contract/reader.js';
import { queryBuilder } from '../store/sql/builder.js';
import { belongsTo, readFirst, wasValidAt } from './read.js';

/** A certificate file that a row names. Replaced files are included: a read never removes a stored file. */
export interface StoredFile {
  readonly file: string;
  readonly sha256: string;
  readonly size: number;
}

export async function readStoredFiles({ all }: Reader): Promise<StoredFile[]> {
  return await all(
    queryBuilder
      .selectFrom('mirror.certificates_history')
      .select([
        sql.ref<string>('file').as('file'),
        sql.ref<string>('sha256').as('sha256'),
        sql<number>`min(size)`.as('size'),
      ])
      .where('state', '=', 'stored')
      .groupBy(['file', 'sha256'])
      .orderBy('file')
      .orderBy('sha256'),
  );
}

/** Whether a row names this file. No row names a file after it was purged. */
export async function isNamed(reader: Reader, file: string): Promise<boolean> {
  const row = await readFirst(
    reader,
    queryBuilder
      .selectFrom('mirror.certificates_history')
      .select('version')
      .where('file', '=', file)
      .limit(1),
  );
  return row !== null;
}

interface ExportFilter {
  readonly organizationId: string | null;
  /** Null exports the present. */
  readonly at: string | null;
}

/** An instant at which every current row is valid. */
const END_OF_TIME = '9999-12-31T23:59:59.999Z';

const KEY_COLUMNS = ['retirement_id', 'organization_id'] as const;
const FILE_COLUMNS = ['fetched_at', 'file', 'sha256'] as const;
const RETIREMENT_COLUMNS = [
  'beneficiary',
  'amount',
  'project',
  'vintage',
  'reason',
  'retired_at',
  'serialization',
] as const;
export const EXPORT_COLUMNS = [
  ...KEY_COLUMNS,
  ...RETIREMENT_COLUMNS,
  ...FILE_COLUMNS,
  'organization_name',
  'valid_from',
] as const;

export type ExportRow = Awaited<ReturnType<typeof readExport>>[number];

/** Reads the stored certificates with their retirements, now or as of an instant. */
export async function readExport({ all }: Reader, { organizationId, at }: ExportFilter) {
  const instant = at ?? END_OF_TIME;
  return await all(
    queryBuilder
      .selectFrom('mirror.certificates_history as c')
      .leftJoin('mirror.retirements_history as r', join =>
        join
          .onRef('r.organization_id', '=', 'c.organization_id')
          .onRef('r.id', '=', 'c.retirement_id')
          .on(wasValidAt(instant, 'r')),
      )
      .leftJoin('mirror.organizations_history as o', join =>
        join.onRef('o.id', '=', 'c.organization_id').on(wasValidAt(instant, 'o')),
      )
      .select([
        'c.retirement_id',
        'c.organization_id',
        'r.beneficiary',
        'r.amount_exact as amount',
        'r.project_name as project',
        'r.vintage',
        'r.reason',
        'r.created_at as retired_at',
        'r.serialization',
        // A stored certificate has all of these.
        sql.ref<string>('c.fetched_at').as('fetched_at'),
        sql.ref<string>('c.file').as('file'),
        sql.ref<string>('c.sha256').as('sha256'),
        'o.full_name as organization_name',
        'c.valid_from',
      ])
      .where('c.state', '=', 'stored')
      .where(wasValidAt(instant, 'c'))
      .where(belongsTo(organizationId, 'c.organization_id'))
      .orderBy('r.created_at', order => order.asc().nullsFirst())
      .orderBy('c.retirement_id')
      .orderBy('c.organization_id'),
  );
}

/** Reads the state of each list that an export was made from, and the time that it is known for. */
export async function readCoverage(
  { all }: Reader,
  organizationId: string | null,
  resources: readonly string[] | null = ['retirements', 'certificates'],
) {
  const lists = queryBuilder
    .selectFrom('mirror.freshness as f')
    .leftJoin('mirror.resource_states as s', join =>
      join.onRef('s.organization_id', '=', 'f.organization_id').onRef('s.resource', '=', 'f.resource'),
    )
    .select(['f.organization_id', 'f.resource', 'f.state', 's.first_complete_at', 'f.as_of', 'f.rows'])
    .where(belongsTo(organizationId, 'f.organization_id'))
    .orderBy('f.organization_id', order => order.asc().nullsFirst())
    .orderBy('f.resource');
  return await all(resources === null ? lists : lists.where('f.resource', 'in', [...resources, '*']));
}
