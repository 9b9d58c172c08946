type JsonRecord = Readonly<Record<string, unknown>>;

/** Changes members of the JSON objects in an answer whose `id` is a key of `membersById`. */
export function overrideObjects(answer: Buffer, membersById: JsonRecord): Buffer {
  const value: unknown = JSON.parse(answer.toString('utf8'));
  return Buffer.from(JSON.stringify(overrideIn(value, membersById)));
}

/** Returns a copy of a JSON value in which the named objects are changed, at any depth. */
function overrideIn(value: unknown, membersById: JsonRecord): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => overrideIn(item, membersById));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(
    ([name, member]) => [name, overrideIn(member, membersById)] as const,
  );
  const overrides = membersById[String(value['id'])];
  return { ...Object.fromEntries(entries), ...(isObject(overrides) ? overrides : {}) };
}

export function isObject(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
