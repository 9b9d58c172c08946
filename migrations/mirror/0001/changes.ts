import { type Columns, type Dialect, type Mirrored, SURE, view } from '../../schema.js';
import { RESOURCES } from './mirrored.js';

/** A row comes with its columns; of the amount its own digits are enough. */
function shownOf({ columns, shows, key }: Mirrored): Columns {
  const isShown = (name: string) =>
    shows?.includes(name) ?? (name !== 'amount' && !(name === 'organization_id' && key.includes(name)));
  return Object.fromEntries(Object.entries(columns).filter(([name]) => isShown(name)));
}

/** The three ways in which a row of one table changes: into what is true now, into what was true, and to nothing. */
function changesOf(dialect: Dialect, entry: Mirrored): string {
  const { mirror, none, word, bytewise, object } = dialect;
  const { table, resource, owner, key, only } = entry;
  const id = key.find(name => name !== 'organization_id') ?? 'id';
  const shown = shownOf(entry);
  const names = Object.keys(shown).filter(name => !key.includes(name));
  const differ = names.map(
    name => `CASE WHEN n.${name} IS DISTINCT FROM p.${name} THEN '${name},' ELSE '' END`,
  );
  const owned = (alias: string) =>
    owner === null ? `${none('text')}, ${none('text')}` : `${alias}.${owner}, o.full_name`;
  const joins = (alias: string, sync: string) =>
    `${owner === null ? '' : `LEFT JOIN ${mirror}organizations AS o ON o.id = ${alias}.${owner} `}LEFT JOIN ${mirror}syncs AS r ON r.id = ${alias}.${sync}`;
  const come = (from: string) => `SELECT n.version, n.valid_from, ${owned('n')}, ${word(resource)}, n.${id},
  ${bytewise("CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END")},
  CASE WHEN p.version IS NOT NULL THEN ${object('p', shown)} END,
  ${object('n', shown)},
  ${bytewise(`CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(${differ.join(' || ')}, ','), ''), 'document') END`)},
  n.sync_id, r.trigger, r.job_id, r.delivery_id
FROM ${mirror}${from} AS n LEFT JOIN ${mirror}${table}_past AS p ON p.closed_version = n.version
${joins('n', 'sync_id')}${only === undefined ? '' : `\nWHERE n.${only}`}`;
  const gone = `SELECT p.closed_version, p.valid_to, ${owned('p')}, ${word(resource)}, p.${id}, ${word('removed')},
  ${object('p', shown)},
  NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
FROM ${mirror}${table}_past AS p
${joins('p', 'closed_by')}
WHERE ${only === undefined ? '' : `p.${only} AND `}NOT EXISTS (SELECT 1 FROM ${mirror}${table} AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM ${mirror}${table}_past AS n WHERE n.version = p.closed_version)`;
  return [come(table), come(`${table}_past`), gone].join('\nUNION ALL\n');
}

export const CHANGES = view(
  'mirror.changes',
  'Every change of every resource, once: what was added, changed or removed, in the order of the numbers, and what found it. A row comes with its columns, without amount (amount_exact says it), instants, run and document. Of certificates those that were stored. Whoever keeps the last number finds the next by number > it.',
  {
    number: [
      'int',
      'number of the counter that the change took as it was committed: the version of the new row, or closed_version where the row is gone',
      SURE,
    ],
    observed_at: [
      'instant',
      'when the answer that showed it had arrived; the registry may have changed earlier',
      SURE,
    ],
    organization_id: ['text', 'the organization that it belongs to; null for what belongs to nobody'],
    organization_name: ['text', 'its name'],
    resource: ['text', 'what changed, by its word in syncs', SURE],
    id: ['text', 'id of the row: of a credit its credit_id, of a certificate its retirement_id', SURE],
    change: ['text', 'added, changed or removed', SURE],
    before: ['text', 'what stood there, a JSON object of columns; null where the row is new'],
    after: ['text', 'what stands there since, a JSON object of columns; null where the row is gone'],
    changed_columns: [
      'text',
      "names of the columns that differ, with commas between; 'document' where they differ in nothing that has a column; null where the row is new or gone",
    ],
    sync_id: ['int', 'the sync that found it; old syncs are removed in time', SURE],
    trigger: ['text', 'what asked for that sync: delivery, schedule, worker or a person'],
    job_id: ['int', 'the job of the inbox that did it; null where none did'],
    delivery_id: ['int', 'the newest delivery that this job answers; null where none had asked for it'],
  },
  dialect => RESOURCES.map(entry => changesOf(dialect, entry)).join('\nUNION ALL\n'),
);
