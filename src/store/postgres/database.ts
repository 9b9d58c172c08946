import { createDatabase, type Database } from '../database.js';
import { POSTGRES } from '../dialect.js';
import type { Postgres } from './open.js';

/** A message is as many statements as the server has not answered yet, on one connection. */
export function databaseIn({ query, begin }: Postgres): Database {
  return createDatabase({
    dialect: POSTGRES,
    look: all => Promise.all(all.map(({ text, values }) => query(text, values))),
    open: begin,
  });
}
