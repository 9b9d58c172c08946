import { SQLITE, type Value } from '../dialect.js';
import { compile, valueOf } from '../statement.js';
import type { Sqlite } from './open.js';

/** Prepared once, and run synchronously as often as it is filled. */
export interface Statement<Parameters extends Record<string, Value>, Row> {
  run(parameters: Parameters): number;
  get(parameters: Parameters): Row | undefined;
  all(parameters: Parameters): Row[];
}

/** Each `@name` of the text is a place that is filled by that name. */
export function statement<Parameters extends Record<string, Value>, Row = never>(
  db: Sqlite,
  source: string,
): Statement<Parameters, Row> {
  const { text, names } = compile(SQLITE, source);
  const prepared = db.prepare<unknown[], Row>(text);
  const bind = (parameters: Parameters): Value[] => names.map(name => valueOf<Value>(parameters, name));
  return {
    run: parameters => prepared.run(bind(parameters)).changes,
    get: parameters => prepared.get(bind(parameters)),
    all: parameters => prepared.all(bind(parameters)),
  };
}
