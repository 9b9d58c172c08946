import { sql } from 'kysely';
import type { Reader } from '../store/contract/reader.js';
import type { Row } from '../store/contract/tables.js';
import { queryBuilder } from '../store/sql/builder.js';
import { type Condition, buildCondition } from './lists/condition.js';
import { joinConditions } from './lists/relation.js';
import { buildOrganizationCondition, readFirst, buildValidAtCondition } from './read-one.js';

/** An instant at which every current row is valid. */
const END_OF_TIME = '9999-12-31T23:59:59.999Z';

/** A certificate file that a row names. Replaced files are included: a read never removes a stored file. */
export interface StoredFile {
  readonly file: string;
  readonly sha256: string;
  readonly size: number;
}

/** Reads the stored file of every current or past certificate, with its checksum and size. */
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

/** Whether a current or past certificate has this stored file. Returns false after the file was purged. */
export async function isFileReferenced(reader: Reader, file: string): Promise<boolean> {
  const row = await readFirst(
    reader,
    queryBuilder.selectFrom('mirror.certificates_history').select('version').where('file', '=', file),
  );
  return row !== null;
}

/**
 * Adds to each certificate the date, tonnes, beneficiary and project of its retirement at the instant `at`. If `at` is null, adds the
 * current values.
 */
export async function addRetirements(
  { all }: Reader,
  certificates: readonly Row[],
  at: string | null,
): Promise<readonly Row[]> {
  const distinct = (column: string) => [...new Set(certificates.map(row => String(row[column])))];
  const retirements = await all(
    queryBuilder
      .selectFrom('mirror.retirements_history')
      .select([
        'organization_id',
        'id',
        'created_at as retired_at',
        'amount_exact',
        'beneficiary',
        'project_name',
      ])
      .where('organization_id', 'in', distinct('organization_id'))
      .where('id', 'in', distinct('retirement_id'))
      .where(buildValidAtCondition(at ?? END_OF_TIME)),
  );
  const toKey = (organizationId: unknown, id: unknown) => JSON.stringify([organizationId, id]);
  const byKey = new Map(
    retirements.map(({ organization_id: owner, id, ...retirement }) => [toKey(owner, id), retirement]),
  );
  const unknown = { retired_at: null, amount_exact: null, beneficiary: null, project_name: null };
  return certificates.map(certificate => ({
    ...certificate,
    ...(byKey.get(toKey(certificate['organization_id'], certificate['retirement_id'])) ?? unknown),
  }));
}

interface ExportFilter {
  /** Conditions on the columns of certificates. All of them must hold. */
  readonly where: readonly Condition[];
  /** Null exports the present. */
  readonly at: string | null;
}

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

/** Reads the stored certificates with their retirements as of an instant, or now. */
export async function readExport({ all }: Reader, { where, at }: ExportFilter) {
  const instant = at ?? END_OF_TIME;
  const chosen = queryBuilder
    .selectFrom('mirror.certificates_history')
    .selectAll()
    .where(joinConditions(where.map(condition => buildCondition(condition, at))))
    .as('c');
  return await all(
    queryBuilder
      .selectFrom(chosen)
      .leftJoin('mirror.retirements_history as r', join =>
        join
          .onRef('r.organization_id', '=', 'c.organization_id')
          .onRef('r.id', '=', 'c.retirement_id')
          .on(buildValidAtCondition(instant, 'r')),
      )
      .leftJoin('mirror.organizations_history as o', join =>
        join.onRef('o.id', '=', 'c.organization_id').on(buildValidAtCondition(instant, 'o')),
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
      .where(buildValidAtCondition(instant, 'c'))
      .orderBy('r.created_at', order => order.asc().nullsFirst())
      .orderBy('c.retirement_id')
      .orderBy('c.organization_id'),
  );
}

/**
 * Reads the retirement of a stored certificate file. A download of the file is named after this retirement. Null if no certificate has the
 * file.
 */
export async function readRetirementOfFile(reader: Reader, file: string) {
  return await readFirst(
    reader,
    queryBuilder
      .selectFrom('mirror.certificates_history as certificate')
      .innerJoin('mirror.retirements_history as retirement', join =>
        join
          .onRef('retirement.organization_id', '=', 'certificate.organization_id')
          .onRef('retirement.id', '=', 'certificate.retirement_id'),
      )
      .select([
        'retirement.created_at as retiredAt',
        'retirement.beneficiary',
        'retirement.amount_exact as amount',
        'retirement.id as retirementId',
      ])
      .where('certificate.file', '=', file)
      .orderBy('retirement.valid_from', 'desc'),
  );
}

/**
 * Reads the state of each list that an export is made from, and when it was first and last read completely. Null resources stand
 * for all lists.
 */
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
    .where(buildOrganizationCondition(organizationId, 'f.organization_id'))
    .orderBy('f.organization_id', order => order.asc().nullsFirst())
    .orderBy('f.resource');
  return await all(resources === null ? lists : lists.where('f.resource', 'in', [...resources, '*']));
}

interface CertificateOwner {
  readonly retirementId: string;
  /** Null searches all organizations. */
  readonly organizationId: string | null;
  /** Null selects the current certificate. */
  readonly at: string | null;
}

/** Finds the stored PDFs of a retirement's certificate: one for each organization that has a retirement with this id. */
export async function findCertificateFiles(
  { all }: Reader,
  { retirementId, organizationId, at }: CertificateOwner,
): Promise<Pick<StoredFile, 'file' | 'sha256'>[]> {
  return await all(
    queryBuilder
      .selectFrom(at === null ? 'mirror.certificates' : 'mirror.certificates_history')
      .select([sql.ref<string>('file').as('file'), sql.ref<string>('sha256').as('sha256')])
      .where('retirement_id', '=', retirementId)
      .where('state', '=', 'stored')
      .where(buildOrganizationCondition(organizationId))
      .where(buildValidAtCondition(at)),
  );
}
