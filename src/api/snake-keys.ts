/** Converts the camelCase keys of nested objects to snake_case. Ids and other keys stay as they are. */
export function toSnakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => [toSnakeCase(name), toSnakeKeys(inner)]),
  );
}

function toSnakeCase(name: string): string {
  if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) return name;
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}
