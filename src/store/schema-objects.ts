import { fail, type Finding } from './contract/finding.js';

/** A table, a view, an index or any other object of a schema, as its engine describes it. */
export interface SchemaObject {
  readonly kind: string;
  readonly name: string;
  readonly definition: string;
}

/** Additional objects of these kinds change what is read or written. Others, such as an index of the operator, do not. */
const KINDS_THAT_ACT = ['column', 'constraint', 'policy', 'rule', 'trigger', 'unique index'];

export const SCHEMA_LAW = 'the schema is the one that the migrations create';

/** Returns the objects that are missing, differ from what the migrations make, or were added and change reads or writes. */
export function compareSchemas(expected: readonly SchemaObject[], found: readonly SchemaObject[]): string[] {
  const nameOf = ({ kind, name }: SchemaObject) => `${kind} ${name}`;
  const foundByName = new Map(found.map(each => [nameOf(each), each]));
  const expectedNames = new Set(expected.map(nameOf));
  const broken = expected.flatMap(each => {
    const counterpart = foundByName.get(nameOf(each));
    if (counterpart === undefined) return [`the ${nameOf(each)} is missing`];
    return counterpart.definition === each.definition ? [] : [`the ${nameOf(each)} was changed`];
  });
  const added = found.filter(each => KINDS_THAT_ACT.includes(each.kind) && !expectedNames.has(nameOf(each)));
  return [...broken, ...added.map(each => `the ${nameOf(each)} was added`)];
}

/** Describes schema changes as findings of `doctor`. */
export function describeSchemaChanges(changes: readonly string[]): Finding[] {
  const [first, ...others] = changes;
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return [fail('schema', `${first}${more}`, CURE)];
}

const CURE =
  'Somebody changed the database by hand. Undo the change, or restore a backup that was made before it.';
