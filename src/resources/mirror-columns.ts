import type { Amount, ProjectReference } from '../registry/object-models.js';
import { type SqlValue, toReadableText } from './sql-values.js';

/** A column of a mirrored table, with the function that reads its value from an object of the registry. */
export interface MirrorColumn<Item> {
  readonly name: string;
  readonly getValue: (item: Item) => SqlValue;
}

export function createColumn<Item>(name: string, getValue: (item: Item) => SqlValue): MirrorColumn<Item> {
  return { name, getValue };
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

const YEAR_AT_END = /-(\d{4})$/;

/** Returns the vintage year of an item. Takes it from the end of the serial number (`serialization`) if `vintage` is null. */
export function getVintage(item: { vintage: string | null; serialization: string | null }): string | null {
  return toReadableText(item.vintage ?? YEAR_AT_END.exec(item.serialization ?? '')?.[1] ?? null);
}

/** Creates the four columns of an amount: number, micro-tonnes, exact text and parse error. */
export function createAmountColumns<Item extends { amount: Amount }>(): MirrorColumn<Item>[] {
  return [
    createColumn('amount', item => item.amount.value),
    createColumn('amount_micro', item => item.amount.micro),
    createColumn('amount_exact', item => toReadableText(item.amount.exact)),
    createColumn('fault', item => toReadableText(item.amount.fault)),
  ];
}

/** Creates the columns for the id and the name of a project. */
export function createProjectColumns<
  Item extends { project: ProjectReference | null },
>(): MirrorColumn<Item>[] {
  return [
    createColumn('project_id', item => toReadableText(item.project?.id ?? null)),
    createColumn('project_name', item => toReadableText(item.project?.fullName ?? null)),
  ];
}
