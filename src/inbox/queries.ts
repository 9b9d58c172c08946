import type { Compilable, RawBuilder } from 'kysely';
import type { InboxTables } from '../database/inbox-tables.js';
import { createQueries } from '../database/statement.js';

export const queries = createQueries<InboxTables>();

/** A hand-written statement, for what is clearer as SQL. */
export function raw<Row>(text: RawBuilder<Row>): Compilable<Row> {
  return { compile: () => text.compile(queries) };
}

/** Instants are stored as UTC text with milliseconds, which sorts as time does. */
export function toInstant(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
