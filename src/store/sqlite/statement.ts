import { SQLITE } from '../dialect.js';
import type { PreparedStatement } from '../sql/prepared.js';
import type { Values } from '../statement.js';
import type { Sqlite } from './open.js';

/** A statement on one connection, which runs synchronously. */
export interface SynchronousStatement<Given extends Values, Row> {
  /** Returns the number of changed rows. */
  run(values: Given): number;
  get(values: Given): Row | undefined;
  all(values: Given): Row[];
}

/** Prepares a statement on a connection. */
export function prepareOn<Given extends Values, Row>(
  db: Sqlite,
  statement: PreparedStatement<Given, Row>,
): SynchronousStatement<Given, Row> {
  const { text, bind } = statement.compileFor(SQLITE);
  const prepared = db.prepare<unknown[], Row>(text);
  return {
    run: values => prepared.run(bind(values)).changes,
    get: values => prepared.get(bind(values)),
    all: values => prepared.all(bind(values)),
  };
}
