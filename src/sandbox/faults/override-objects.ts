type JsonObject = Readonly<Record<string, unknown>>;

/** Changes members of the JSON objects in an answer whose `id` is a key of `membersById`. */
export function overrideObjects(answer: Buffer, membersById: JsonObject): Buffer {
  const value: unknown = JSON.parse(answer.toString('utf8'));
  return Buffer.from(JSON.stringify(overrideIn(value, membersById)));
}

function overrideIn(value: unknown, membersById: JsonObject): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => overrideIn(item, membersById));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(
    ([name, member]) => [name, overrideIn(member, membersById)] as const,
  );
  const overrides = membersById[String(value['id'])];
  return { ...Object.fromEntries(entries), ...(isObject(overrides) ? overrides : {}) };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
