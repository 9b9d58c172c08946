/** Yields rows that are already read, as the rows of an answer. */
export async function* streamOf<Row>(rows: Iterable<Row> | AsyncIterable<Row>): AsyncGenerator<Row> {
  yield* rows;
}

/** Reads all rows of an answer. */
export async function collectRows<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const collected: Row[] = [];
  for await (const row of rows) collected.push(row);
  return collected;
}
