/** A value that a column of a mirrored table can hold. */
export type SqlValue = string | number | bigint | null;

/** Converts a column value to text for comparison. The number 1 and the bigint 1n give the same text. */
export function toComparableText(value: SqlValue | Uint8Array | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

const UNREADABLE = /\p{Surrogate}|\0/u;

/** Replaces NUL characters and lone surrogates by U+FFFD, because some database clients fail on them. */
export function toReadableText(value: string | null): string | null {
  if (value === null || !UNREADABLE.test(value)) return value;
  return Buffer.from(value).toString().replaceAll('\0', '\uFFFD');
}

/** Formats epoch milliseconds as an ISO instant in UTC. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Converts a boolean to 1 or 0 for the database. */
export function toFlag(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}
