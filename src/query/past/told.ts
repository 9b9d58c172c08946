import type { Plain } from '../../engines/contract/reader.js';
import { CERTIFICATES } from '../../resources/certificates.js';
import { type Entry, nameOf, ownerOf } from '../../resources/entry.js';
import { ENTRY_OF } from '../../resources/resources.js';
import { LISTS } from '../../resources/lists.js';
import { INSTALLATIONS } from '../../resources/installations.js';

/** A resource by its word. */
type Named = readonly [resource: string, entry: Entry];
type Alias = 'n' | 'p';

const AMOUNTS = ['amount_micro', 'amount_exact'];
const CREDIT = ['project_id', 'project_name', 'serialization', 'vintage', 'type', ...AMOUNTS];
const NAMED = [
  'full_name',
  'project_id',
  'project_name',
  'serialization',
  'vintage',
  'type',
  'beneficiary',
  'created_at',
  'sha256',
  ...AMOUNTS,
];
/** What the view leaves out. */
const NOT_TOLD = ['amount', 'file', 'checked_at', 'due_at', 'attempts', 'error', 'retirement_version'];

const ALL: readonly Named[] = [['installation', INSTALLATIONS], ...Object.entries(ENTRY_OF)];

/** The resources of which any row changed after a number: each that is asked about costs as much as many rows. */
export async function readChanged(plain: Plain, resource: string | null, after: number): Promise<Named[]> {
  const asked = ALL.filter(([word]) => resource === null || word === resource);
  if (asked.length === 0) return [];
  const newest = asked.map(([word, { table }]) => {
    const [now, past] = [table, `${table}_past`].map(name => plain.table(name));
    return `SELECT '${word}' AS resource WHERE ${after} < (SELECT max(version) FROM ${now})
      OR ${after} < (SELECT max(closed_version) FROM ${past})`;
  });
  const found = await plain.rows<readonly [string]>(
    ['resource'],
    `FROM (${newest.join(' UNION ALL ')}) AS newest`,
  );
  return asked.filter(([word]) => found.some(([changed]) => changed === word));
}

/** What a sentence and a sum are made of. */
export interface Told {
  readonly number: number;
  readonly change: 'added' | 'changed' | 'removed';
  readonly resource: string;
  readonly id: string;
  readonly learnt_at: string;
  readonly organization_id: string | null;
  readonly organization_name: string | null;
  readonly sync_run_id: number;
  readonly trigger: string | null;
  readonly delivery_id: number | null;
  /** Of a row that changed these have what differs, and what it is called. */
  readonly before: Cells | null;
  readonly after: Cells | null;
  readonly changed_columns: readonly string[] | null;
}

type Cells = Readonly<Record<string, unknown>>;

export type ToldRow = readonly [
  number: number,
  change: Told['change'],
  id: string,
  learntAt: string,
  organization: string | null,
  organizationName: string | null,
  run: number,
  trigger: string | null,
  delivery: number | null,
  ...cells: unknown[],
];

const HEAD = [
  'number',
  'change',
  'id',
  'learnt_at',
  'organization_id',
  'organization_name',
  'sync_run_id',
  'trigger',
  'delivery_id',
];

/** The changes of one resource: of each its head, and of every column what stood there and what stands there. */
export function toldOf(plain: Plain, [, entry]: Named) {
  const cells = toldColumns(entry).flatMap(name => [`${name}_before`, `${name}_after`]);
  const parts = [entry.table, `${entry.table}_past`].map(table => appeared(plain, entry, table));
  parts.push(removed(plain, entry));
  return { cells: [...HEAD, ...cells], from: `FROM (${parts.join(' UNION ALL ')}) AS changes` };
}

function toldColumns({ columns }: Entry): string[] {
  return columns.map(({ name }) => name).filter(name => !NOT_TOLD.includes(name));
}

/** What was added and what was changed: the rows that a number began. */
function appeared(plain: Plain, entry: Entry, table: string): string {
  const cells = toldColumns(entry).map(name => {
    const isShown = kept(entry).includes(name)
      ? null
      : `${NAMED.includes(name) ? '' : 'p.version IS NOT NULL AND '}n.${name} IS DISTINCT FROM p.${name}`;
    return `${shown(name, 'p', isShown)} AS ${name}_before, ${shown(name, 'n', isShown)} AS ${name}_after`;
  });
  return `SELECT n.version AS number, CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END AS change,
    n.${nameOf(entry)} AS id, n.valid_from AS learnt_at, ${whose(entry, 'n')}, n.sync_run_id, r.trigger, r.delivery_id,
    ${cells.join(', ')}
    FROM ${plain.table(table)} AS n LEFT JOIN ${plain.table(`${entry.table}_past`)} AS p ON p.closed_version = n.version
    ${beside(plain, entry, 'n', 'sync_run_id')} WHERE ${isTold(entry, 'n')}`;
}

function removed(plain: Plain, entry: Entry): string {
  const [now, past] = [entry.table, `${entry.table}_past`].map(name => plain.table(name));
  const followed = [now, past].map(
    table => `NOT EXISTS (SELECT 1 FROM ${table} AS n WHERE n.version = p.closed_version)`,
  );
  const named = [...NAMED, ...kept(entry)];
  const cells = toldColumns(entry).map(
    name => `${named.includes(name) ? shown(name, 'p', null) : 'NULL'}, NULL`,
  );
  return `SELECT p.closed_version, 'removed', p.${nameOf(entry)}, p.valid_to, ${whose(entry, 'p')}, p.closed_by, r.trigger,
    r.delivery_id, ${cells.join(', ')}
    FROM ${past} AS p ${beside(plain, entry, 'p', 'closed_by')}
    WHERE ${isTold(entry, 'p')} AND ${followed.join(' AND ')}`;
}

function shown(name: string, alias: Alias, isShown: string | null): string {
  // Millionths may be more than a number holds.
  const cell = name === 'amount_micro' ? `CAST(${alias}.${name} AS TEXT)` : `${alias}.${name}`;
  return isShown === null ? cell : `CASE WHEN ${isShown} THEN ${cell} END`;
}

function whose(entry: Entry, alias: Alias): string {
  const owner = ownerOf(entry);
  const [id, name] =
    owner === null ? ['CAST(NULL AS TEXT)', 'CAST(NULL AS TEXT)'] : [`${alias}.${owner}`, 'o.full_name'];
  return `${id} AS organization_id, ${name} AS organization_name`;
}

/** Whose it is by name, and what found it. */
function beside(plain: Plain, entry: Entry, alias: Alias, run: string): string {
  const owner = ownerOf(entry);
  const organizations =
    owner === null ? '' : `LEFT JOIN ${plain.table('organizations')} AS o ON o.id = ${alias}.${owner}`;
  return `${organizations} LEFT JOIN ${plain.table('sync_runs')} AS r ON r.id = ${alias}.${run}`;
}

function isTold(entry: Entry, alias: Alias): string {
  return entry === CERTIFICATES ? `${alias}.state = 'stored'` : '1 = 1';
}

/** What a sentence names of a row that changed: of credits their names, of all what they are called, and the amounts to add up. */
function kept({ table }: Entry): readonly string[] {
  const isCredit = table === LISTS.warehouse.table || table === LISTS.inventory.table;
  return isCredit ? CREDIT : ['full_name', 'amount_micro'];
}

/** How a row of `toldOf` is read. */
export function asTold([resource, entry]: Named): (row: ToldRow) => Told {
  const names = toldColumns(entry);
  return row => {
    const before: Record<string, unknown> = {};
    const after: Record<string, unknown> = {};
    const differing: string[] = [];
    let at = HEAD.length;
    for (const name of names) {
      const from = row[at];
      const to = row[at + 1];
      at += 2;
      if (from === to) {
        if (to === null) continue;
      } else differing.push(name);
      before[name] = from;
      after[name] = to;
    }
    const change = row[1];
    return {
      number: row[0],
      change,
      resource,
      id: row[2],
      learnt_at: row[3],
      organization_id: row[4],
      organization_name: row[5],
      sync_run_id: row[6],
      trigger: row[7],
      delivery_id: row[8],
      before: change === 'added' ? null : before,
      after: change === 'removed' ? null : after,
      changed_columns: change !== 'changed' ? null : differing.length > 0 ? differing : ['document'],
    };
  };
}
