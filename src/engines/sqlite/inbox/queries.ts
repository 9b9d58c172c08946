import { type Compilable, type RawBuilder, sql } from 'kysely';
import type { InboxTables } from '../../contract/inbox-tables.js';
import { createQueries } from '../statement.js';

export const queries = createQueries<InboxTables>();

/** A hand-written statement, for what is clearer as SQL. */
export function raw<Row>(text: RawBuilder<Row>): Compilable<Row> {
  return { compile: () => text.compile(queries) };
}

/** Instants are stored as UTC text with milliseconds, which sorts as time does. */
export function toInstant(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/**
 * The payload of two jobs in one. `resources` narrows what a job reads, so it stays only where both have it:
 * a retry of one resource that is merged with a delivery reads them all.
 */
export function mergePayloads(left: RawBuilder<unknown>, right: RawBuilder<unknown>): RawBuilder<string> {
  const both = sql`json_patch(${left}, ${right})`;
  const narrow = sql`json_type(${left}, '$.resources') + json_type(${right}, '$.resources') IS NOT NULL`;
  return sql<string>`iif(${narrow}, ${both}, json_remove(${both}, '$.resources'))`;
}
