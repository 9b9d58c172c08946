/** A value that a column of a mirrored table can hold. */
export type SqlValue = string | number | bigint | null;

/** Converts a column value to text for comparison, because drivers return a whole number as number or as bigint. */
export function toComparableText(value: SqlValue | Uint8Array | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** A column of a mirrored table, with the function that reads its value from an object of the registry. */
export interface MirrorColumn<Item> {
  readonly name: string;
  readonly getValue: (item: Item) => SqlValue;
}

export function createColumn<Item>(name: string, getValue: (item: Item) => SqlValue): MirrorColumn<Item> {
  return { name, getValue };
}

const UNREADABLE = /\p{Surrogate}|\0/u;

/** Replaces lone surrogates and NULs by U+FFFD, because some programs that read the database fail on them. */
export function toReadableText(value: string | null): string | null {
  if (value === null || !UNREADABLE.test(value)) return value;
  return Buffer.from(value, 'utf8').toString('utf8').replaceAll('\0', '\uFFFD');
}

/** Names of the fields of an item that hold text or null. */
type TextFieldName<Item> = {
  [Name in keyof Item]: Item[Name] extends string | null ? Name : never;
}[keyof Item] &
  string;

/** Creates a text column for each field, named in snake case: `credit_id` for `creditId`. */
export function createTextColumns<Item>(...names: readonly TextFieldName<Item>[]): MirrorColumn<Item>[] {
  return names.map(name => {
    const columnName = name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
    return createColumn(columnName, item => {
      const value: unknown = item[name];
      return typeof value === 'string' ? toReadableText(value) : null;
    });
  });
}

/** Formats epoch milliseconds as an ISO instant in UTC, as all columns store instants. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Converts a boolean to 1 or 0, as both databases store it. */
export function toFlag(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}
