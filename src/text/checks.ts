/** Matches the ids that may be used in a path or a file name. */
const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Whether a value is an id of letters, digits, `_` and `-`. Such an id is safe in a path or a file name. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

/** Matches text without control characters, such as an id that is never used in a path or a file name. */
const PRINTABLE = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,256}$/u;

/** Whether a value is text without control characters. */
export function isPrintable(value: unknown): value is string {
  return typeof value === 'string' && PRINTABLE.test(value) && value.trim() !== '';
}

/** Whether a value is an object that is no array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
