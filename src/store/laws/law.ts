import type { Dialect } from '../dialect.js';
import { type ConsistencyFault, firstOf, SHOWN } from '../contract/broken.js';
import { listKeyColumns } from '../../resources/entry.js';
import { LISTS } from '../../resources/lists.js';
import { ENTRIES, findEntry } from '../../resources/resources.js';

/** What must hold in any mirror at any moment, whatever the registry said. */
export interface Law {
  readonly law: string;
  /** Answers one column `found` for each row that breaks the law. `:now` is the present, `:soon` a day later. */
  readonly sql: string;
}

/** A row that breaks a law. `many` is the number of all rows that break it. */
export interface LawBreakRow {
  readonly found: string;
  readonly many: number;
}

/** A clock that is set back by up to a day leaves rows dated in the future, which is no fault. */
export const DAY_MS = 86_400_000;

/** Called before each law is checked, with the number of laws that were checked before. */
export type LawListener = (checked: number, total: number) => void;

interface LawCheck {
  readonly dialect: Pick<Dialect, 'bytewise'>;
  readonly now: number;
  readonly ask: (sql: string) => Promise<readonly LawBreakRow[]>;
  readonly onLaw?: LawListener | undefined;
}

/** Each law is asked at an instant, for the first few of the rows that break it. */
export async function findBreaks(
  laws: readonly Law[],
  { dialect: { bytewise }, now, ask, onLaw }: LawCheck,
): Promise<ConsistencyFault[]> {
  const at = (ms: number) => `'${new Date(ms).toISOString()}'`;
  const broken: ConsistencyFault[] = [];
  for (const [checked, { law, sql }] of laws.entries()) {
    onLaw?.(checked, laws.length);
    const asked = sql.replaceAll(':now', at(now)).replaceAll(':soon', at(now + DAY_MS));
    const order = `ORDER BY ${bytewise('found')} LIMIT ${SHOWN}`;
    const rows = await ask(`SELECT found, count(*) OVER () AS many FROM (${asked}) AS broken ${order}`);
    const wheres = rows.map(({ found }) => found);
    broken.push(...firstOf(law, wheres, rows[0]?.many));
  }
  return broken;
}

/** The tables that have versions, and the key of each. */
export const KEYS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  ENTRIES.map(entry => [entry.table, listKeyColumns(entry)]),
);

/** The table of each resource that is read as a list. */
export const LISTED: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LISTS).map(([resource, { table }]) => [resource, table]),
);

/** The column that holds the organization of a row. */
export function scopeOf(table: string): string {
  return findEntry(table)?.scope ?? 'organization_id';
}

/** What stands in only one of two selections. */
export function differ(one: string, other: string, named: string): string {
  return `SELECT DISTINCT ${named} AS found FROM (
    SELECT * FROM (${one} EXCEPT ${other}) AS here UNION ALL SELECT * FROM (${other} EXCEPT ${one}) AS there) AS found`;
}
