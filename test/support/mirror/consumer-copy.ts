import type { Reader } from '../../../src/store/contract/reader.js';
import { getIdColumn } from '../../../src/resources/entry.js';
import { ENTRY_BY_RESOURCE } from '../../../src/resources/resources.js';
import { type ChangeRow, readBetween, readLastNumber } from '../../../src/query/history/changes.js';
import { sql, stoodAt, table } from '../../../src/query/sql.js';

const EVERYTHING = { organizationId: null, resource: null, since: null, until: null };

/** A copy that somebody keeps by the view `changes` alone. */
export interface ConsumerCopy {
  /** Takes what came since, and answers what did not fit. */
  readonly catchUp: (reader: Reader) => Promise<string[]>;
  /** All that it holds, by resource, organization and key. */
  readonly rows: () => ReadonlyMap<string, string>;
}

/** `after` is a number that was kept, as a consumer keeps it over its own restarts. */
export function createConsumerCopy(): ConsumerCopy {
  const rows = new Map<string, string>();
  let last = 0;
  return {
    rows: () => new Map(rows),
    async catchUp(reader) {
      const misfits: string[] = [];
      const newest = await readLastNumber(reader);
      for await (const change of readBetween(reader, EVERYTHING, last, newest)) {
        if (change.number <= last) misfits.push(`${change.number} came again, or late`);
        last = change.number;
        misfits.push(...applyChange(rows, change));
      }
      last = newest;
      return misfits;
    },
  };
}

function applyChange(
  rows: Map<string, string>,
  { number, change, resource, before, after, ...row }: ChangeRow,
): string[] {
  const cells: Readonly<Record<string, unknown>> = JSON.parse(after ?? before ?? '{}');
  const key = JSON.stringify([resource, row.organization_id, row.row_id, cells['inventory_id'] ?? null]);
  const held = rows.get(key) ?? null;
  if (after === null) rows.delete(key);
  else rows.set(key, after);
  const fits = held === before && (change === 'added') === (before === null);
  return fits ? [] : [`${number}, ${change} ${key}: held ${held}, was said to be ${before}`];
}

type Cells = Readonly<Record<string, unknown>>;

const SAID = [
  'amount_exact',
  'beneficiary',
  'state',
  'updated_at',
  'full_name',
  'sha256',
  'address',
  'email',
];

/** What the mirror's own history says stood there at an instant. */
export async function listRowsAsOf({ all }: Reader, at: string): Promise<string[]> {
  const shown: string[] = [];
  for (const [resource, entry] of Object.entries(ENTRY_BY_RESOURCE)) {
    const rows = await all(sql<Cells>`SELECT * FROM ${table(`${entry.table}_history`)} WHERE ${stoodAt(at)}`);
    const known = resource === 'certificates' ? rows.filter(row => row['state'] === 'stored') : rows;
    shown.push(...known.map(row => said(resource, row[getIdColumn(entry)], row)));
  }
  return shown.toSorted();
}

/** The same of a copy. */
export function listRowsOfCopy(copy: ConsumerCopy): string[] {
  const rows = [...copy.rows()].map(([key, cells]) => ({ key: JSON.parse(key), cells: JSON.parse(cells) }));
  return rows
    .filter(({ key }) => key[0] !== 'installation')
    .map(({ key, cells }) => said(key[0], key[2], cells))
    .toSorted();
}

function said(resource: string, id: unknown, cells: Cells): string {
  return JSON.stringify([resource, id, ...SAID.map(name => cells[name] ?? null)]);
}
