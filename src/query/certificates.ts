import type { Reader } from '../store/contract/reader.js';
import { NULLS_FIRST, ofOne, stoodAt } from './sql.js';

/** A file that a row names, replaced ones included: what was stored once is never removed by a read. */
export interface StoredFile {
  readonly file: string;
  readonly sha256: string;
  readonly size: number;
}

export async function readStoredFiles({ db }: Reader): Promise<StoredFile[]> {
  return await db
    .selectFrom('certificates_history')
    .where('state', '=', 'stored')
    .select(eb => [
      eb.ref('file').$notNull().as('file'),
      eb.ref('sha256').$notNull().as('sha256'),
      eb.fn.min(eb.ref('size').$notNull()).as('size'),
    ])
    .groupBy(['file', 'sha256'])
    .orderBy('file')
    .orderBy('sha256')
    .execute();
}

/** Whether a row still names the file; one that was purged meanwhile is named by none. */
export async function isNamed({ db }: Reader, file: string): Promise<boolean> {
  const asked = db.selectFrom('certificates_history').select('version').where('file', '=', file);
  return (await asked.limit(1).executeTakeFirst()) !== undefined;
}

interface ExportFilter {
  readonly organizationId: string | null;
  /** An instant in the form of the mirror's own. Null for what is true now. */
  readonly at: string | null;
}

/** What stands now has not ended then. */
const END_OF_TIME = '9999-12-31T23:59:59.999Z';

export const EXPORT_COLUMNS = [
  'retirement_id',
  'organization_id',
  'beneficiary',
  'amount',
  'project',
  'vintage',
  'reason',
  'retired_at',
  'serialization',
  'fetched_at',
  'file',
  'sha256',
  'organization_name',
  'valid_from',
] as const satisfies readonly (keyof ExportRow)[];

export type ExportRow = Awaited<ReturnType<typeof readExport>>[number];

/** The stored certificates beside what they prove, now or as both stood at an instant. */
export async function readExport({ db }: Reader, { organizationId, at }: ExportFilter) {
  const then = stoodAt(at ?? END_OF_TIME);
  const certificates = db.selectFrom('certificates_history').selectAll().where(then);
  const retirements = db.selectFrom('retirements_history').selectAll().where(then);
  const organizations = db.selectFrom('organizations_history').selectAll().where(then);
  return await db
    .selectFrom(certificates.as('c'))
    .leftJoin(retirements.as('r'), on =>
      on.onRef('r.organization_id', '=', 'c.organization_id').onRef('r.id', '=', 'c.retirement_id'),
    )
    .leftJoin(organizations.as('o'), 'o.id', 'c.organization_id')
    .where('c.state', '=', 'stored')
    .where(ofOne(organizationId, 'c'))
    .select(eb => [
      'c.retirement_id',
      'c.organization_id',
      'r.beneficiary',
      'r.amount_exact as amount',
      'r.project_name as project',
      'r.vintage',
      'r.reason',
      'r.created_at as retired_at',
      'r.serialization',
      eb.ref('c.fetched_at').$notNull().as('fetched_at'),
      eb.ref('c.file').$notNull().as('file'),
      eb.ref('c.sha256').$notNull().as('sha256'),
      'o.full_name as organization_name',
      'c.valid_from',
    ])
    .orderBy('r.created_at', NULLS_FIRST)
    .orderBy('c.retirement_id')
    .orderBy('c.organization_id')
    .execute();
}

/** How far what is exported can be trusted: each list that it was made of, its state and the time it is known for. */
export async function readCoverage(
  { db }: Reader,
  organizationId: string | null,
  resources: readonly string[] | null = ['retirements', 'certificates'],
) {
  return await db
    .selectFrom('freshness as f')
    .leftJoin('resource_states as s', on =>
      on.onRef('s.organization_id', '=', 'f.organization_id').onRef('s.resource', '=', 'f.resource'),
    )
    .where(ofOne(organizationId, 'f'))
    .where(eb => eb.and(resources === null ? [] : [eb('f.resource', 'in', [...resources, '*'])]))
    .select(['f.organization_id', 'f.resource', 'f.state', 's.first_complete_at', 'f.as_of', 'f.rows'])
    .orderBy('f.organization_id', NULLS_FIRST)
    .orderBy('f.resource')
    .execute();
}
