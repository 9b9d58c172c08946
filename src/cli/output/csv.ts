import { type Cell, csvLine, type Dialect } from '../../text/csv.js';
import { emit, type Io, print } from '../io.js';
import type { Row } from './cells.js';

/** On a terminal a line is cleaned of what would draw. */
export async function writeCsv(
  io: Io,
  columns: readonly string[],
  rows: Iterable<Row> | AsyncIterable<Row>,
  dialect: Dialect,
): Promise<number> {
  let count = 0;
  const write = (cells: readonly Cell[]) =>
    io.terminal.stdout
      ? print(io, csvLine(cells, { ...dialect, end: '' }))
      : emit(io, csvLine(cells, dialect));
  if (!io.terminal.stdout) await emit(io, dialect.start);
  await write(columns);
  for await (const row of rows) {
    await write(columns.map(name => row[name]));
    count++;
  }
  return count;
}
