import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { streamVersions } from '../../../query/at-registry.js';
import {
  type ConsistencyFault,
  summarizeFaults,
  MAX_SHOWN_FAULTS,
} from '../../../store/contract/consistency-fault.js';
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
  const shown: string[] = [];
  let count = 0;
  let batchSize = 0;
  for await (const row of streamVersions(reader, table)) {
    const columns = findContradictedColumns(table, row);
    if (columns.length > 0) {
      count += 1;
      if (count <= MAX_SHOWN_FAULTS) shown.push(`version ${String(row['version'])}: ${columns.join(', ')}`);
    }
    batchSize += 1;
    if (batchSize < BATCH_SIZE) continue;
    onBatch(batchSize);
    batchSize = 0;
    await yieldToEventLoop();
  }
  onBatch(batchSize);
  return summarizeFaults(`each column of ${table} matches its document`, shown, count);
}
