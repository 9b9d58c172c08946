/** Objects that are the registry's own: what it sent stands there as it was sent. */
const AS_SENT = ['content', 'document', 'body'];

/** The same value with the keys of every object in snake_case, as the columns of the mirror are named. */
export function withSnakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeKeys);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    snakeCase(name),
    AS_SENT.includes(name) ? inner : withSnakeKeys(inner),
  ]);
  return Object.fromEntries(entries);
}

/** Only names of ours are changed: a key that is no camelCase word is somebody's data. */
function snakeCase(name: string): string {
  if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) return name;
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}
