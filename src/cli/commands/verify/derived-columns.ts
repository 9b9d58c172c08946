import { setImmediate as pause } from 'node:timers/promises';
import type { Reader } from '../../../store/contract/reader.js';
import type { Value } from '../../../store/contract/tables.js';
import { readVersions } from '../../../query/documents.js';
import type { Broken } from '../../../store/engine.js';
import { contradictedColumns, DERIVED_TABLES } from '../../../sync/derived.js';

const SHOWN = 5;
const ROWS_AT_ONCE = 1_000;

/** Told how many rows were looked at, again and again. */
type Looked = (rows: number) => void;

/** Rows, past ones included, with a column that is not what their document says. */
export async function findUnderived(reader: Reader, looked: Looked = () => undefined): Promise<Broken[]> {
  const broken: Broken[] = [];
  for (const table of DERIVED_TABLES) broken.push(...(await findIn(reader, table, looked)));
  return broken;
}

async function findIn(reader: Reader, table: string, looked: Looked): Promise<Broken[]> {
  const broken: Broken[] = [];
  for (let last: Value = 0; ; ) {
    const rows = await readVersions(reader, table, last, ROWS_AT_ONCE);
    looked(rows.length);
    for (const row of rows) {
      const columns = contradictedColumns(table, row);
      if (columns.length === 0) continue;
      const where = `version ${String(row['version'])}: ${columns.join(', ')}`;
      broken.push({ law: `each column of ${table} is what its document says`, where });
      if (broken.length === SHOWN) return broken;
    }
    const end = rows.at(-1)?.['version'];
    if (end === undefined || rows.length < ROWS_AT_ONCE) return broken;
    last = end;
    await pause();
  }
}
