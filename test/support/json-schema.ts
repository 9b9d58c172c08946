/** Checks values against the parts of JSON Schema that our schemas use. An unknown keyword is a fault. */
type Schema = Readonly<Record<string, unknown>>;

const TYPE_OF: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: value => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: Array.isArray,
  string: value => typeof value === 'string',
  integer: Number.isInteger,
  number: value => typeof value === 'number',
  null: value => value === null,
};
const ANNOTATIONS = ['$schema', 'title', 'description'];

const isSchema = (value: unknown): value is Schema => TYPE_OF['object']?.(value) === true;
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

export function findSchemaFaults(schema: Schema, value: unknown, path = ''): string[] {
  return Object.entries(schema).flatMap(([keyword, expected]) => {
    if (ANNOTATIONS.includes(keyword)) return [];
    const fault = (text: string) => [`${path || '/'}: ${text}`];
    switch (keyword) {
      case 'type':
        return listOf(expected).some(type => TYPE_OF[String(type)]?.(value))
          ? []
          : fault(`not ${JSON.stringify(expected)}`);
      case 'const':
        return value === expected ? [] : fault(`not ${JSON.stringify(expected)}`);
      case 'enum':
        return listOf(expected).includes(value) ? [] : fault(`not in ${JSON.stringify(expected)}`);
      case 'format':
        if (expected !== 'date-time') return fault(`unknown format ${String(expected)}`);
        return value === null || (typeof value === 'string' && new Date(value).toISOString() === value)
          ? []
          : fault('no date-time');
      case 'items':
        return listOf(value).flatMap((each, index) =>
          isSchema(expected) ? findSchemaFaults(expected, each, `${path}/${index}`) : [],
        );
      case 'properties':
        return Object.entries(isSchema(expected) ? expected : {}).flatMap(([name, part]) =>
          isSchema(value) && name in value && isSchema(part)
            ? findSchemaFaults(part, value[name], `${path}/${name}`)
            : [],
        );
      case 'required':
        return listOf(expected).flatMap(name =>
          isSchema(value) && String(name) in value ? [] : fault(`${String(name)} is missing`),
        );
      case 'additionalProperties': {
        const known = isSchema(schema['properties']) ? Object.keys(schema['properties']) : [];
        const names = isSchema(value) ? Object.keys(value) : [];
        return names.filter(name => !known.includes(name)).flatMap(name => fault(`unexpected ${name}`));
      }
      case 'anyOf': {
        const results = listOf(expected).map(part =>
          isSchema(part) ? findSchemaFaults(part, value, path) : ['no schema'],
        );
        return results.some(faults => faults.length === 0) ? [] : results.flat();
      }
      default:
        return fault(`unknown keyword ${keyword}`);
    }
  });
}
