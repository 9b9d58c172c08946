import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { streamVersions } from '../../../query/at-registry.js';
import { type ConsistencyFault, summarizeFaults, MAX_SHOWN_FAULTS } from '../../../store/contract/finding.js';
import type { Reader } from '../../../store/contract/reader.js';
import { findContradictedColumns, DERIVED_TABLES } from '../../../sync/derived-columns.js';

const BATCH_SIZE = 1_000;

/** Called after each batch with the number of rows in it. */
type BatchListener = (rowCount: number) => void;

/** Finds current and past rows with a column value that contradicts the row's JSON document. */
export async function findContradictedRows(
  reader: Reader,
  onBatch: BatchListener = () => undefined,
): Promise<ConsistencyFault[]> {
  const broken: ConsistencyFault[] = [];
  for (const table of DERIVED_TABLES)
    broken.push(...(await findContradictedRowsInTable(reader, table, onBatch)));
  return broken;
}

/** Finds current and past rows of one table with a column value that contradicts the JSON document. */
async function findContradictedRowsInTable(
  reader: Reader,
  table: string,
  onBatch: BatchListener,
): Promise<ConsistencyFault[]> {
  let shown: readonly ContradictedVersion[] = [];
  let count = 0;
  let batchSize = 0;
  for await (const row of streamVersions(reader, table)) {
    const columns = findContradictedColumns(table, row);
    if (columns.length > 0) {
      count += 1;
      shown = keepLowest([...shown, { version: Number(row['version']), columns }]);
    }
    batchSize += 1;
    if (batchSize < BATCH_SIZE) continue;
    onBatch(batchSize);
    batchSize = 0;
    await yieldToEventLoop();
  }
  onBatch(batchSize);
  const sentences = shown.map(({ version, columns }) => `version ${version}: ${columns.join(', ')}`);
  return summarizeFaults(`each column of ${table} matches its document`, sentences, count);
}

interface ContradictedVersion {
  readonly version: number;
  readonly columns: readonly string[];
}

/** Keeps the lowest versions, because the database returns the rows in no order. */
function keepLowest(versions: readonly ContradictedVersion[]): readonly ContradictedVersion[] {
  return versions.toSorted((one, other) => one.version - other.version).slice(0, MAX_SHOWN_FAULTS);
}
