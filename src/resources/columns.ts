export type SqlValue = string | number | bigint | null;

/** As it is compared: a whole number is of one kind or the other, by who has read it. */
export function comparableText(value: SqlValue | Uint8Array | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** One column of a mirrored row and how it is taken from what the registry sent. */
export interface MirrorColumn<Item> {
  readonly name: string;
  readonly of: (item: Item) => SqlValue;
}

export function column<Item>(name: string, of: (item: Item) => SqlValue): MirrorColumn<Item> {
  return { name, of };
}

const UNREADABLE = /\p{Surrogate}|\0/u;

/** Text that every reader of the database can read: a lone surrogate or a NUL becomes U+FFFD. */
export function readableText(value: string | null): string | null {
  if (value === null || !UNREADABLE.test(value)) return value;
  return Buffer.from(value, 'utf8').toString('utf8').replaceAll('\0', '\uFFFD');
}

type NamesOfTexts<Item> = {
  [Name in keyof Item]: Item[Name] extends string | null ? Name : never;
}[keyof Item] &
  string;

/** Columns of texts and instants, each called as its member is: `credit_id` of `creditId`. */
export function textColumns<Item>(...names: readonly NamesOfTexts<Item>[]): MirrorColumn<Item>[] {
  return names.map(name => {
    const called = name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
    return column(called, item => {
      const value: unknown = item[name];
      return typeof value === 'string' ? readableText(value) : null;
    });
  });
}

export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

export function toFlag(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}
