import { sql } from 'kysely';
import type { Reader } from '../../../src/store/contract/reader.js';
import { getIdColumn } from '../../../src/resources/entry.js';
import { ENTRY_BY_RESOURCE } from '../../../src/resources/resources.js';
import { type ChangeRow, readBetween, readLastNumber } from '../../../src/query/history/changes.js';
import { relation } from '../../../src/query/lists/relation.js';
import { buildValidAtCondition } from '../../../src/query/read-one.js';

const EVERYTHING = { organizationId: null, resource: null, since: null, until: null };

/** A copy of the mirror that a consumer maintains from the view `changes` alone. */
export interface ConsumerCopy {
  /** Applies the new changes, and returns those that did not fit. */
  readonly catchUp: (reader: Reader) => Promise<string[]>;
  /** Rows of the copy, by resource, organization and key. */
  readonly rows: () => ReadonlyMap<string, string>;
}

/** Creates an empty copy. It remembers the number of the last change that it applied. */
export function createConsumerCopy(): ConsumerCopy {
  const rows = new Map<string, string>();
  let lastNumber = 0;
  return {
    rows: () => new Map(rows),
    async catchUp(reader) {
      const misfits: string[] = [];
      const newest = await readLastNumber(reader);
      for await (const change of readBetween(reader, EVERYTHING, lastNumber, newest)) {
        if (change.number <= lastNumber) misfits.push(`${change.number} came again, or late`);
        lastNumber = change.number;
        misfits.push(...applyChange(rows, change));
      }
      lastNumber = newest;
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
  const current = rows.get(key) ?? null;
  if (after === null) rows.delete(key);
  else rows.set(key, after);
  const fits = current === before && (change === 'added') === (before === null);
  return fits ? [] : [`${number}, ${change} ${key}: held ${current}, was said to be ${before}`];
}

type Cells = Readonly<Record<string, unknown>>;

const COMPARED_COLUMNS = [
  'amount_exact',
  'beneficiary',
  'state',
  'updated_at',
  'full_name',
  'sha256',
  'address',
  'email',
];

/** Lists the rows as of an instant, from the history of the mirror. */
export async function listRowsAsOf({ all }: Reader, at: string): Promise<string[]> {
  const lines: string[] = [];
  for (const [resource, entry] of Object.entries(ENTRY_BY_RESOURCE)) {
    const rows = await all(
      sql<Cells>`SELECT * FROM ${relation(`${entry.table}_history`)} WHERE ${buildValidAtCondition(at)}`,
    );
    const comparedRows = resource === 'certificates' ? rows.filter(row => row['state'] === 'stored') : rows;
    lines.push(...comparedRows.map(row => formatRow(resource, row[getIdColumn(entry)], row)));
  }
  return lines.toSorted();
}

/** Lists the rows of a copy, in the format of `listRowsAsOf`. */
export function listRowsOfCopy(copy: ConsumerCopy): string[] {
  const rows = [...copy.rows()].map(([key, cells]) => ({ key: JSON.parse(key), cells: JSON.parse(cells) }));
  return rows
    .filter(({ key }) => key[0] !== 'installation')
    .map(({ key, cells }) => formatRow(key[0], key[2], cells))
    .toSorted();
}

function formatRow(resource: string, id: unknown, cells: Cells): string {
  return JSON.stringify([resource, id, ...COMPARED_COLUMNS.map(name => cells[name] ?? null)]);
}
