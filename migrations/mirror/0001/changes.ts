import { cellsOf, type Columns, type Dialect, type Mirrored, nameOf, SURE, view } from '../../schema.js';
import { RESOURCES } from './mirrored.js';

/** Whether `changes` shows a column. `amount` is left out, because `amount_exact` has the same value. */
const isShown = (entry: Mirrored, name: string): boolean => entry.shows?.includes(name) ?? name !== 'amount';

/** Returns a query of the current rows of a table, in the columns that `changes` needs. */
function ofNow({ mirror, as, word, object }: Dialect, entry: Mirrored): string {
  const { table, resource, owner, only } = entry;
  const shown = Object.entries(cellsOf(entry)).filter(([name]) => isShown(entry, name));
  const after = object('n', Object.fromEntries(shown));
  return `SELECT version, valid_from, ${owner ?? as('text', 'NULL')}, ${word(resource)}, ${nameOf(entry)}, ${after}, sync_id FROM ${mirror}${table} AS n${only === undefined ? '' : ` WHERE ${only}`}`;
}

const COLUMNS = {
  number: [
    'int',
    'number of the change: the version of the new row, or closed_version if the row was removed',
    SURE,
  ],
  observed_at: [
    'instant',
    'when the mirror observed the change; the registry may have made it earlier',
    SURE,
  ],
  organization_id: [
    'text',
    'id of the organization that owns the row; NULL for projects, which no organization owns',
  ],
  organization_name: ['text', 'name of the organization; NULL if unknown'],
  resource: ['text', 'resource of the row, as in syncs.resource', SURE],
  row_id: ['text', 'id of the row: credit_id for credits, retirement_id for certificates', SURE],
  change: ['text', 'added, changed or removed', SURE],
  before: ['text', 'columns before the change, as a JSON object; NULL if the row was added'],
  after: ['text', 'columns after the change, as a JSON object; NULL if the row was removed'],
  changed_columns: [
    'text',
    "names of the columns that differ, separated by commas; 'document' if only the document differs. NULL if the row was added or removed",
  ],
  sync_id: ['int', 'sync that observed the change (syncs.id)', SURE],
  trigger: ['text', 'trigger of that sync: delivery, schedule, worker or person'],
  job_id: ['int', 'job that ran the sync (inbox.jobs.id); NULL if no job did'],
  newest_delivery_id: ['int', 'newest delivery that the job answers; NULL if no delivery requested the read'],
} as const satisfies Columns;

/** Defines the view `changes` for the tables of these resources. */
export function changesView(resources: readonly Mirrored[]) {
  const names = [...new Set(resources.flatMap(entry => Object.keys(cellsOf(entry))))];
  const hidden = resources
    .flatMap(entry => Object.keys(cellsOf(entry)).filter(name => !isShown(entry, name)))
    .filter((name, place, all) => all.indexOf(name) === place);
  return view(
    'mirror.changes',
    'All changes of all resources, each with a number: the row that was added, changed or removed, and the sync that observed it. ' +
      'The columns before and after leave out amount, valid_from, sync_id and document; amount_exact has the amount. ' +
      'Certificates appear only once they are stored. ' +
      'To follow changes, keep the highest number you have seen and select greater ones.',
    COLUMNS,
    dialect => {
      const { mirror, bytewise, shown, differ, as } = dialect;
      const past = (version: string, from: string, after: string, sync: string) =>
        `SELECT ${version}, ${from}, organization_id, resource, key, ${after}, ${sync} FROM ${mirror}past`;
      const came = [
        ...resources.map(entry => ofNow(dialect, entry)),
        past('version', 'valid_from', shown('cells', hidden), 'sync_id'),
        `${past('closed_version', 'valid_to', as('text', 'NULL'), 'closed_by')} WHERE is_removed = 1`,
      ];
      const changedColumns = `coalesce(${differ('c.after', 'p.cells', names)}, ${bytewise("'document'")})`;
      return `WITH came (number, observed_at, organization_id, resource, row_id, after, sync) AS (
  ${came.join('\n  UNION ALL\n  ')}
)
SELECT c.number, c.observed_at, c.organization_id, o.full_name, c.resource, c.row_id,
  ${bytewise("CASE WHEN c.after IS NULL THEN 'removed' WHEN p.version IS NULL THEN 'added' ELSE 'changed' END")},
  ${shown('p.cells', hidden)}, c.after,
  CASE WHEN p.version IS NOT NULL AND c.after IS NOT NULL THEN ${changedColumns} END,
  c.sync, r.trigger, r.job_id, r.newest_delivery_id
FROM came AS c LEFT JOIN ${mirror}past AS p ON p.closed_version = c.number
LEFT JOIN ${mirror}organizations AS o ON o.id = c.organization_id LEFT JOIN ${mirror}syncs AS r ON r.id = c.sync`;
    },
  );
}

export const CHANGES = changesView(RESOURCES);
