type JsonRecord = Readonly<Record<string, unknown>>;

/** Replaces fields of objects in a JSON response. `fieldsById` maps the `id` of an object to the new fields. */
export function overrideObjects(responseBody: Buffer, fieldsById: JsonRecord): Buffer {
  const value: unknown = JSON.parse(responseBody.toString('utf8'));
  return Buffer.from(JSON.stringify(replaceFields(value, fieldsById)));
}

/** Copies a JSON value. Each object in the copy gets the new fields that `fieldsById` has for its `id`. */
function replaceFields(value: unknown, fieldsById: JsonRecord): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => replaceFields(item, fieldsById));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(
    ([name, member]) => [name, replaceFields(member, fieldsById)] as const,
  );
  const overrides = fieldsById[String(value['id'])];
  return { ...Object.fromEntries(entries), ...(isObject(overrides) ? overrides : {}) };
}

/** Returns whether a value is an object and not an array or null. */
export function isObject(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
