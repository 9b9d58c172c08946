export type Value = string | number | bigint | null;

/** As it is compared: a whole number is of one kind or the other, by who has read it. */
export function textOf(value: Value | Uint8Array | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** One column of a mirrored row and how it is taken from what the registry sent. */
export interface Column<Item> {
  readonly name: string;
  readonly of: (item: Item) => Value;
}

export function column<Item>(name: string, of: (item: Item) => Value): Column<Item> {
  return { name, of };
}

const UNREADABLE = /\p{Surrogate}|\0/u;

/** Text that every reader of the database can read: a lone surrogate or a NUL becomes U+FFFD. */
export function text(value: string | null): string | null {
  if (value === null || !UNREADABLE.test(value)) return value;
  return Buffer.from(value, 'utf8').toString('utf8').replaceAll('\0', '\uFFFD');
}

const INSTANT = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** Earlier and later ones have a year of six digits, which would not sort as text. */
const FIRST_INSTANT = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** `YYYY-MM-DDTHH:MM:SS.sssZ`, or null where the registry sent no usable instant. Without a zone it is UTC. */
export function instant(value: string | null): string | null {
  const match = value === null ? null : INSTANT.exec(value);
  if (value === null || match === null || !isRealDay(value)) return null;
  const zoned = match[1] === undefined && value.length > 10 ? `${value}Z` : value;
  const milliseconds = Date.parse(zoned);
  return milliseconds >= FIRST_INSTANT && milliseconds <= LAST_INSTANT ? formatInstant(milliseconds) : null;
}

/** Date.parse takes 30 February for 2 March. */
function isRealDay(value: string): boolean {
  const day = Number(value.slice(8, 10));
  if (day <= 28) return true;
  return day <= new Date(Date.UTC(Number(value.slice(0, 4)), Number(value.slice(5, 7)), 0)).getUTCDate();
}

export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

export function flag(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}
