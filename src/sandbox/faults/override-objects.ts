type JsonRecord = Readonly<Record<string, unknown>>;

/**
 * Overrides members of the objects in a JSON response. `membersById` holds the new members by the `id` of their object.
 */
export function overrideObjects(responseBody: Buffer, membersById: JsonRecord): Buffer {
  const value: unknown = JSON.parse(responseBody.toString('utf8'));
  return Buffer.from(JSON.stringify(overrideInValue(value, membersById)));
}

/** Returns a copy of a JSON value in which the members of objects at any depth are overridden. */
function overrideInValue(value: unknown, membersById: JsonRecord): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => overrideInValue(item, membersById));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(
    ([name, member]) => [name, overrideInValue(member, membersById)] as const,
  );
  const overrides = membersById[String(value['id'])];
  return { ...Object.fromEntries(entries), ...(isObject(overrides) ? overrides : {}) };
}

/** Returns whether a value is an object and not an array or null. */
export function isObject(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
