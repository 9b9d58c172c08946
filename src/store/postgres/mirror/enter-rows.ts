import { columnsOf } from '../../../resources/entry.js';
import { type ListResource, LISTS } from '../../../resources/lists.js';
import { given, known, SYNC } from './perform.js';
import { names, typedColumns } from './versions.js';

/** Rows of which nothing stood there and this read saw nothing before: nothing is dated by what was. */
export function enterStatement(resource: ListResource): string {
  const entry = LISTS[resource];
  const values: Readonly<Record<string, string>> = {
    version: `${known('first', 'bigint')} + r.n`,
    [entry.scope]: given('organization_id'),
    valid_from: 'r.observed_at',
    sync_id: SYNC,
  };
  return `
  WITH entered AS (
    INSERT INTO mirror.${entry.table} (${names(entry)})
    SELECT ${columnsOf(entry)
      .map(name => values[name] ?? `r.${name}`)
      .join(', ')}
    FROM json_to_recordset($3) AS r (n bigint, observed_at timestamptz, document text, ${typedColumns(entry)})
    RETURNING version, valid_from
  )
  SELECT jsonb_build_object('versions', jsonb_agg(version ORDER BY version), 'added', count(*), 'latest', max(valid_from))
  FROM entered`;
}
