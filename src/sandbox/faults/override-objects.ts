type JsonRecord = Readonly<Record<string, unknown>>;

/** Overrides members of the JSON objects in a response. An object is changed if its `id` is a key of `membersById`. */
export function overrideObjects(answer: Buffer, membersById: JsonRecord): Buffer {
  const value: unknown = JSON.parse(answer.toString('utf8'));
  return Buffer.from(JSON.stringify(overrideInValue(value, membersById)));
}

/** Returns a copy of a JSON value in which the members are overridden, at any depth. */
function overrideInValue(value: unknown, membersById: JsonRecord): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => overrideInValue(item, membersById));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(
    ([name, member]) => [name, overrideInValue(member, membersById)] as const,
  );
  const overrides = membersById[String(value['id'])];
  return { ...Object.fromEntries(entries), ...(isObject(overrides) ? overrides : {}) };
}

export function isObject(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
