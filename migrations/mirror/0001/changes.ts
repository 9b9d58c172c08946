import { cellsOf, type Dialect, type Mirrored, nameOf, SURE, view } from '../../schema.js';
import { RESOURCES } from './mirrored.js';

/** Of the amount its own digits are enough, of a certificate what is proven by it. */
const isShown = (entry: Mirrored, name: string): boolean => entry.shows?.includes(name) ?? name !== 'amount';

const NAMES = [...new Set(RESOURCES.flatMap((entry: Mirrored) => Object.keys(cellsOf(entry))))];

const NOT_SHOWN = RESOURCES.flatMap((entry: Mirrored) =>
  Object.keys(cellsOf(entry)).filter(name => !isShown(entry, name)),
).filter((name, place, all) => all.indexOf(name) === place);

/** What is true now of one table. */
function ofNow({ mirror, as, word, object }: Dialect, entry: Mirrored): string {
  const { table, resource, owner, only } = entry;
  const shown = Object.entries(cellsOf(entry)).filter(([name]) => isShown(entry, name));
  const after = object('n', Object.fromEntries(shown));
  return `SELECT version, valid_from, ${owner ?? as('text', 'NULL')}, ${word(resource)}, ${nameOf(entry)}, ${after}, sync_id FROM ${mirror}${table} AS n${only === undefined ? '' : ` WHERE ${only}`}`;
}

export const CHANGES = view(
  'mirror.changes',
  'Every change of every resource, once: what was added, changed or removed, in the order of the numbers, and what found it. A row comes with its columns, without amount (amount_exact says it), instants, run and document. Of certificates those that were stored. Whoever keeps the last number finds the next by number > it.',
  {
    number: ['int', 'its number: version of the new row, or closed_version where the row is gone', SURE],
    observed_at: ['instant', 'when the answer that showed it came; the change itself may be older', SURE],
    organization_id: ['text', 'the organization that it belongs to; null for what belongs to nobody'],
    organization_name: ['text', 'its name'],
    resource: ['text', 'what changed, by its word in syncs', SURE],
    row_id: ['text', 'id of the row: of a credit its credit_id, of a certificate its retirement_id', SURE],
    change: ['text', 'added, changed or removed', SURE],
    before: ['text', 'what stood there, a JSON object of columns; null where the row is new'],
    after: ['text', 'what stands there since, a JSON object of columns; null where the row is gone'],
    changed_columns: ['text', "columns that differ, or else 'document'; null where the row is new or gone"],
    sync_id: ['int', 'the sync that found it; old syncs are removed in time', SURE],
    trigger: ['text', 'what asked for that sync: delivery, schedule, worker or a person'],
    job_id: ['int', 'the job of the inbox that did it; null where none did'],
    newest_delivery_id: ['int', 'the newest delivery that the job answers; null where none asked'],
  },
  dialect => {
    const { mirror, bytewise, shown, differ, as } = dialect;
    const past = (version: string, from: string, after: string, sync: string) =>
      `SELECT ${version}, ${from}, organization_id, resource, key, ${after}, ${sync} FROM ${mirror}past`;
    const came = [
      ...RESOURCES.map(entry => ofNow(dialect, entry)),
      past('version', 'valid_from', shown('cells', NOT_SHOWN), 'sync_id'),
      `${past('closed_version', 'valid_to', as('text', 'NULL'), 'closed_by')} WHERE is_removed = 1`,
    ];
    return `WITH came (number, observed_at, organization_id, resource, row_id, after, sync) AS (
  ${came.join('\n  UNION ALL\n  ')}
)
SELECT c.number, c.observed_at, c.organization_id, o.full_name, c.resource, c.row_id,
  ${bytewise("CASE WHEN c.after IS NULL THEN 'removed' WHEN p.version IS NULL THEN 'added' ELSE 'changed' END")},
  ${shown('p.cells', NOT_SHOWN)}, c.after,
  CASE WHEN p.version IS NOT NULL AND c.after IS NOT NULL THEN coalesce(${differ('c.after', 'p.cells', NAMES)}, ${bytewise("'document'")}) END,
  c.sync, r.trigger, r.job_id, r.newest_delivery_id
FROM came AS c LEFT JOIN ${mirror}past AS p ON p.closed_version = c.number
LEFT JOIN ${mirror}organizations AS o ON o.id = c.organization_id LEFT JOIN ${mirror}syncs AS r ON r.id = c.sync`;
  },
);
