import type { Sqlite } from '../engines/sqlite/open.js';
import { CERTIFICATES } from '../resources/certificates.js';
import { orderOf } from './lists.js';
import type { Value } from '../engines/contract/tables.js';

export interface CertificateFilter {
  readonly organizationId: string | null;
  readonly state: string | null;
  /** -1 for all of them. */
  readonly limit: number;
}

export function readCertificates(
  db: Sqlite,
  filter: CertificateFilter,
): IterableIterator<Record<string, Value>> {
  return db
    .prepare<[object], Record<string, Value>>(
      `SELECT ${CERTIFICATES.shown.columns.join(', ')} FROM certificates
      WHERE (@organizationId IS NULL OR organization_id = @organizationId) AND (@state IS NULL OR state = @state)
      ORDER BY ${orderOf(CERTIFICATES)} LIMIT @limit`,
    )
    .iterate(filter);
}

/** A file that a row names, replaced ones included: what was stored once is never removed by a read. */
export interface StoredFile {
  readonly file: string;
  readonly sha256: string;
  readonly size: number;
  readonly organizationId: string;
  readonly retirementId: string;
}

export function readStoredFiles(db: Sqlite, organizationId: string | null): IterableIterator<StoredFile> {
  return db
    .prepare<[object], StoredFile>(
      `SELECT file, sha256, size, organization_id AS organizationId, retirement_id AS retirementId
      FROM certificates_history
      WHERE state = 'stored' AND (@organizationId IS NULL OR organization_id = @organizationId)
      GROUP BY file, sha256 ORDER BY file`,
    )
    .iterate({ organizationId });
}

/** Whether a row still names the file; one that was purged meanwhile is named by none. */
export function isNamed(db: Sqlite, file: string): boolean {
  return (
    db
      .prepare<[string], number>('SELECT EXISTS (SELECT 1 FROM certificates_history WHERE file = ?)')
      .pluck()
      .get(file) === 1
  );
}

export interface ExportFilter {
  readonly organizationId: string | null;
  /** An instant in the form of the mirror's own. Null for what is true now. */
  readonly at: string | null;
}

export interface ExportRow {
  readonly retirement_id: string;
  readonly organization_id: string;
  readonly beneficiary: string | null;
  readonly amount: string | null;
  readonly project: string | null;
  readonly vintage: string | null;
  readonly reason: string | null;
  readonly retired_at: string | null;
  readonly serialization: string | null;
  readonly fetched_at: string;
  readonly file: string;
  readonly sha256: string;
}

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
] as const satisfies readonly (keyof ExportRow)[];

/** The stored certificates beside what they prove, now or as both stood at an instant. */
export function readExport(db: Sqlite, { organizationId, at }: ExportFilter): IterableIterator<ExportRow> {
  const [certificates, retirements] =
    at === null
      ? ['certificates', 'retirements']
      : ['certificates_history', 'retirements_history'].map(
          view => `(SELECT * FROM ${view} WHERE valid_from <= @at AND (valid_to IS NULL OR valid_to > @at))`,
        );
  return db
    .prepare<[object], ExportRow>(
      `SELECT c.retirement_id, c.organization_id, r.beneficiary, r.amount_exact AS amount, r.project_name AS project,
        r.vintage, r.reason, r.created_at AS retired_at, r.serialization, c.fetched_at, c.file, c.sha256
      FROM ${certificates} AS c
      LEFT JOIN ${retirements} AS r ON r.organization_id = c.organization_id AND r.id = c.retirement_id
      WHERE c.state = 'stored' AND (@organizationId IS NULL OR c.organization_id = @organizationId)
      ORDER BY r.created_at, c.retirement_id`,
    )
    .iterate({ organizationId, ...(at === null ? {} : { at }) });
}

/** Organizations whose certificates were not all known at an instant, and since when they are. */
export function readNotKnownAt(
  db: Sqlite,
  organizationId: string | null,
  at: string,
): { readonly organizationId: string; readonly since: string | null }[] {
  return db
    .prepare<[object], { organizationId: string; since: string | null }>(
      `SELECT organization_id AS organizationId, max(first_complete_at) AS since FROM resource_states
      WHERE resource IN ('retirements', 'certificates')
        AND (@organizationId IS NULL OR organization_id = @organizationId)
      GROUP BY organization_id
      HAVING count(first_complete_at) < 2 OR max(first_complete_at) > @at
      ORDER BY organization_id`,
    )
    .all({ organizationId, at });
}
