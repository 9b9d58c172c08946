import type { Sqlite } from './open.js';

type Value = string | number | bigint | null | Uint8Array;

/** Prepared once, and run synchronously as often as it is filled. */
export interface Statement<Parameters extends Record<string, Value>, Row> {
  run(parameters: Parameters): number;
  get(parameters: Parameters): Row | undefined;
  all(parameters: Parameters): Row[];
}

/** Each `@name` of the text is a place that is filled by that name. */
export function statement<Parameters extends Record<string, Value>, Row = never>(
  db: Sqlite,
  text: string,
): Statement<Parameters, Row> {
  const names = Array.from(text.matchAll(PLACE), ([, name = '']) => name);
  const prepared = db.prepare<unknown[], Row>(text.replaceAll(PLACE, '?'));
  const bind = (parameters: Parameters): Value[] => names.map(name => valueOf(parameters, name));
  return {
    run: parameters => prepared.run(bind(parameters)).changes,
    get: parameters => prepared.get(bind(parameters)),
    all: parameters => prepared.all(bind(parameters)),
  };
}

const PLACE = /@(\w+)/g;

/** An undefined value would be bound as NULL in silence. */
function valueOf(parameters: Record<string, Value>, name: string): Value {
  const value = parameters[name];
  if (value === undefined) throw new TypeError(`expected a value for the parameter "${name}", got undefined`);
  return value;
}
