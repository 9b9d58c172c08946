import type { Reader } from '../../engines/contract/reader.js';
import { CERTIFICATES } from '../../resources/certificates.js';
import { type Entry, nameOf, ownerOf } from '../../resources/entry.js';
import { ENTRY_OF, hasColumn } from '../../resources/resources.js';
import { LISTS } from '../../resources/lists.js';
import { INSTALLATIONS } from '../../resources/installations.js';
import type { Tables } from '../../engines/contract/tables.js';

/** A resource by its word. */
type Named = readonly [resource: string, entry: Entry];
type Say = Reader['say'];
type Alias = 'n' | 'p';
type Differing = readonly (readonly [name: string, differs: string])[];

const AMOUNTS = ['amount_micro', 'amount_exact'];
const CREDIT = ['project_id', 'project_name', 'serialization', 'vintage', ...AMOUNTS];
const NAMED = [
  'full_name',
  'project_id',
  'project_name',
  'serialization',
  'vintage',
  'beneficiary',
  'created_at',
  'sha256',
];
/** What the view leaves out. */
const NOT_TOLD = ['amount', 'file', 'checked_at', 'due_at', 'attempts', 'error', 'retirement_version'];

const ALL: readonly Named[] = [['installation', INSTALLATIONS], ...Object.entries(ENTRY_OF)];

/** The resources of which any row changed after a number: each that is asked about costs as much as many rows. */
export async function readChanged(reader: Reader, resource: string | null, after: number): Promise<Named[]> {
  const { db, say } = reader;
  const asked = ALL.filter(([word]) => resource === null || word === resource);
  if (asked.length === 0) return [];
  const newest = asked.map(([word, { table }]) => {
    const [now, past] = [table, `${table}_past`].map(name => say.table(name));
    return `SELECT '${word}' AS resource WHERE ${after} < (SELECT max(version) FROM ${now})
      OR ${after} < (SELECT max(closed_version) FROM ${past})`;
  });
  const { rows } = await say.written<{ resource: string }>(newest.join(' UNION ALL ')).execute(db);
  return asked.filter(([word]) => rows.some(row => row.resource === word));
}

/**
 * The view `changes`, of some resources, with no more in `before` and `after` than a sentence and a sum are made of: what
 * names the row, its amounts and what differs.
 */
export function toldOf({ say }: Reader, entries: readonly Named[]) {
  const parts = entries.flatMap(([resource, entry]) => [
    appeared(say, resource, entry, entry.table),
    appeared(say, resource, entry, `${entry.table}_past`),
    removed(say, resource, entry),
  ]);
  return say.written<Tables['changes']>(`(${parts.join(' UNION ALL ')})`).as('changes');
}

/** What was added and what was changed: the rows that a number began. */
function appeared(say: Say, resource: string, entry: Entry, table: string): string {
  const differing = differingOf(entry);
  const names = differing.map(([name, differs]) => `CASE WHEN ${differs} THEN '${name},' ELSE '' END`);
  return `SELECT n.version AS number, n.valid_from AS learnt_at, ${whose(entry, 'n')},
    '${resource}' AS resource, n.${nameOf(entry)} AS id,
    CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END AS change,
    CASE WHEN p.version IS NOT NULL THEN ${part(say, entry, 'p', differing)} END AS before,
    CASE WHEN p.version IS NULL THEN ${whole(say, entry, 'n')} ELSE ${part(say, entry, 'n', differing)} END AS after,
    CASE WHEN p.version IS NOT NULL
      THEN coalesce(nullif(rtrim(${names.join(' || ')}, ','), ''), 'document') END AS changed_columns,
    n.sync_run_id, r.trigger, r.job_id, r.delivery_id
    FROM ${say.table(table)} AS n LEFT JOIN ${say.table(`${entry.table}_past`)} AS p ON p.closed_version = n.version
    ${beside(say, entry, 'n', 'sync_run_id')} WHERE ${isTold(entry, 'n')}`;
}

function removed(say: Say, resource: string, entry: Entry): string {
  const [now, past] = [entry.table, `${entry.table}_past`].map(name => say.table(name));
  const followed = [now, past].map(
    table => `NOT EXISTS (SELECT 1 FROM ${table} AS n WHERE n.version = p.closed_version)`,
  );
  return `SELECT p.closed_version, p.valid_to, ${whose(entry, 'p')}, '${resource}', p.${nameOf(entry)}, 'removed',
    ${whole(say, entry, 'p')}, NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
    FROM ${past} AS p ${beside(say, entry, 'p', 'closed_by')}
    WHERE ${isTold(entry, 'p')} AND ${followed.join(' AND ')}`;
}

function whose(entry: Entry, alias: Alias): string {
  const owner = ownerOf(entry);
  const [id, name] =
    owner === null ? ['CAST(NULL AS TEXT)', 'CAST(NULL AS TEXT)'] : [`${alias}.${owner}`, 'o.full_name'];
  return `${id} AS organization_id, ${name} AS organization_name`;
}

/** Whose it is by name, and what found it. */
function beside(say: Say, entry: Entry, alias: Alias, run: string): string {
  const owner = ownerOf(entry);
  const organizations =
    owner === null ? '' : `LEFT JOIN ${say.table('organizations')} AS o ON o.id = ${alias}.${owner}`;
  return `${organizations} LEFT JOIN ${say.table('sync_runs')} AS r ON r.id = ${alias}.${run}`;
}

function isTold(entry: Entry, alias: Alias): string {
  return entry === CERTIFICATES ? `${alias}.state = 'stored'` : '1 = 1';
}

/** What a sentence names of a row that came or went. */
function named(entry: Entry): string[] {
  return [...NAMED, ...AMOUNTS].filter(name => hasColumn(entry, name));
}

/** What it names of one that changed: of credits their names, of all what they are called, and the amounts to add up. */
function kept(entry: Entry, alias: Alias): string[] {
  const names =
    isCredit(entry) && alias === 'n' ? CREDIT : isCredit(entry) ? AMOUNTS : ['full_name', 'amount_micro'];
  return names.filter(name => hasColumn(entry, name));
}

function isCredit({ table }: Entry): boolean {
  return table === LISTS.warehouse.table || table === LISTS.inventory.table;
}

function differingOf({ columns }: Entry): Differing {
  const told = columns.map(({ name }) => name).filter(name => !NOT_TOLD.includes(name));
  return told.map(name => [name, `n.${name} IS DISTINCT FROM p.${name}`]);
}

/** The cells of a row that came or went. */
function whole(say: Say, entry: Entry, alias: Alias): string {
  return say.object(named(entry), alias);
}

/** Of a row that changed what differs, and what the sentence names beside it. */
function part(say: Say, entry: Entry, alias: Alias, differing: Differing): string {
  const always = kept(entry, alias);
  const moved = differing
    .filter(([name]) => !always.includes(name))
    .map(([name, differs]) => `CASE WHEN ${differs} THEN ${cell(say, name, alias)} ELSE '' END`);
  return [`'{"":0'`, ...always.map(name => cell(say, name, alias)), ...moved, `'}'`].join(' || ');
}

function cell(say: Say, name: string, alias: Alias): string {
  return `',"${name}":' || ${say.json(`${alias}.${name}`, name)}`;
}
