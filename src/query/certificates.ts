import type { Reader } from '../store/contract/reader.js';
import type { Tables } from '../store/contract/tables.js';
import { first, ofOne, sql, stoodAt } from './sql.js';

/** A file that a row names, replaced ones included: what was stored once is never removed by a read. */
export interface StoredFile {
  readonly file: string;
  readonly sha256: string;
  readonly size: number;
}

export async function readStoredFiles({ all }: Reader) {
  return await all(sql<StoredFile>`SELECT file, sha256, min(size) AS size FROM mirror.certificates_history
    WHERE state = 'stored' GROUP BY file, sha256 ORDER BY file, sha256`);
}

/** Whether a row still names the file; one that was purged meanwhile is named by none. */
export async function isNamed(reader: Reader, file: string): Promise<boolean> {
  const asked = sql`SELECT version FROM mirror.certificates_history WHERE file = ${file} LIMIT 1`;
  return (await first(reader, asked)) !== null;
}

interface ExportFilter {
  readonly organizationId: string | null;
  /** An instant in the form of the mirror's own. Null for what is true now. */
  readonly at: string | null;
}

/** What stands now has not ended then. */
const END_OF_TIME = '9999-12-31T23:59:59.999Z';

const KEY = ['retirement_id', 'organization_id'] as const;
const STORED = ['fetched_at', 'file', 'sha256'] as const;
const PROVEN = [
  'beneficiary',
  'amount',
  'project',
  'vintage',
  'reason',
  'retired_at',
  'serialization',
] as const;
export const EXPORT_COLUMNS = [...KEY, ...PROVEN, ...STORED, 'organization_name', 'valid_from'] as const;

type Sure = (typeof KEY)[number] | (typeof STORED)[number] | 'valid_from';
export type ExportRow = Readonly<
  Record<Sure, string> & Record<(typeof PROVEN)[number] | 'organization_name', string | null>
>;

/** The stored certificates beside what they prove, now or as both stood at an instant. */
export async function readExport({ all }: Reader, { organizationId, at }: ExportFilter) {
  const then = at ?? END_OF_TIME;
  return await all(sql<ExportRow>`SELECT c.retirement_id, c.organization_id, r.beneficiary, r.amount_exact AS amount,
      r.project_name AS project, r.vintage, r.reason, r.created_at AS retired_at, r.serialization, c.fetched_at,
      c.file, c.sha256, o.full_name AS organization_name, c.valid_from
    FROM mirror.certificates_history AS c
      LEFT JOIN mirror.retirements_history AS r
        ON r.organization_id = c.organization_id AND r.id = c.retirement_id AND ${stoodAt(then, 'r')}
      LEFT JOIN mirror.organizations_history AS o ON o.id = c.organization_id AND ${stoodAt(then, 'o')}
    WHERE c.state = 'stored' AND ${stoodAt(then, 'c')} AND ${ofOne(organizationId, 'c')}
    ORDER BY r.created_at NULLS FIRST, c.retirement_id, c.organization_id`);
}

type Covered = Pick<Tables['freshness'], 'organization_id' | 'resource' | 'state' | 'as_of' | 'rows'> &
  Pick<Partial<Tables['resource_states']>, 'first_complete_at'>;

/** How far what is exported can be trusted: each list that it was made of, its state and the time it is known for. */
export async function readCoverage(
  { all }: Reader,
  organizationId: string | null,
  resources: readonly string[] | null = ['retirements', 'certificates'],
) {
  const wanted = resources === null ? sql`1 = 1` : sql`f.resource IN ${[...resources, '*']}`;
  return await all(sql<Covered>`SELECT f.organization_id, f.resource, f.state, s.first_complete_at, f.as_of, f.rows
    FROM mirror.freshness AS f
      LEFT JOIN mirror.resource_states AS s ON s.organization_id = f.organization_id AND s.resource = f.resource
    WHERE ${ofOne(organizationId, 'f')} AND ${wanted} ORDER BY f.organization_id NULLS FIRST, f.resource`);
}
