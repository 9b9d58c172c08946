/**
 * Converts the camelCase keys of a value and of everything nested in it to snake_case. Other keys, such as ids, stay as they
 * are.
 */
export function toSnakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => [toSnakeCase(name), toSnakeKeys(inner)]),
  );
}

/** Converts a camelCase name to snake_case. Returns any other text unchanged. */
function toSnakeCase(name: string): string {
  if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) return name;
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}
