/** A value that a column of a mirrored table can hold. */
export type SqlValue = string | number | bigint | null;

/** Converts a column value to text for comparison. The number 1 and the bigint 1n give the same text. */
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

/** Replaces NUL characters and lone surrogates by U+FFFD, because some database clients fail on them. */
export function toReadableText(value: string | null): string | null {
  if (value === null || !UNREADABLE.test(value)) return value;
  return Buffer.from(value, 'utf8').toString('utf8').replaceAll('\0', '\uFFFD');
}

/** Names of the fields of an item that hold text or null. */
type TextFieldName<Item> = {
  [Name in keyof Item]: Item[Name] extends string | null ? Name : never;
}[keyof Item] &
  string;

/** Creates a text column for each field. The column name is in snake case: `creditId` → `credit_id`. */
export function createTextColumns<Item>(...names: readonly TextFieldName<Item>[]): MirrorColumn<Item>[] {
  return names.map(name => {
    const columnName = name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
    return createColumn(columnName, item => {
      const value: unknown = item[name];
      return typeof value === 'string' ? toReadableText(value) : null;
    });
  });
}

/** Formats epoch milliseconds as an ISO instant in UTC. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Converts a boolean to 1 or 0 for the database. */
export function toFlag(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}
