import { fail, type Finding } from './contract/finding.js';

/** A table, view, index or other object of a database schema, as the engine describes it. */
export interface SchemaObject {
  readonly kind: string;
  readonly name: string;
  readonly definition: string;
}

/** Kinds of objects that change reads or writes. An operator may add other kinds, such as an index. */
const KINDS_WITH_EFFECT = ['column', 'constraint', 'policy', 'rule', 'trigger', 'unique index'];

/** The name of the data law that compares the schema. */
export const SCHEMA_LAW = 'the schema is the one that the migrations create';

/** Describes each object that is missing or differs, and each added object that affects reads or writes, such as a trigger. */
export function compareSchemas(expected: readonly SchemaObject[], found: readonly SchemaObject[]): string[] {
  const nameOf = ({ kind, name }: SchemaObject) => `${kind} ${name}`;
  const foundByName = new Map(found.map(each => [nameOf(each), each]));
  const expectedNames = new Set(expected.map(nameOf));
  const broken = expected.flatMap(each => {
    const counterpart = foundByName.get(nameOf(each));
    if (counterpart === undefined) return [`the ${nameOf(each)} is missing`];
    return counterpart.definition === each.definition ? [] : [`the ${nameOf(each)} was changed`];
  });
  const added = found.filter(
    each => KINDS_WITH_EFFECT.includes(each.kind) && !expectedNames.has(nameOf(each)),
  );
  return [...broken, ...added.map(each => `the ${nameOf(each)} was added`)];
}

/** Returns the finding of the command `doctor` about schema changes, or an empty list if there are none. */
export function describeSchemaChanges(changes: readonly string[]): Finding[] {
  const [first, ...others] = changes;
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return [fail('schema', `${first}${more}`, CURE)];
}

const CURE =
  'Somebody changed the database by hand. Undo the change, or restore a backup that was made before it.';
