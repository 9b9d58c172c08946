import { type RawBuilder, sql as kysely } from 'kysely';
import type { Given, Reader, Statement } from '../store/contract/reader.js';
import type { Tables } from '../store/contract/tables.js';

type Part<R> = Given | Statement<R>;

/** A statement or a part of one. It answers the columns that are parts of it, where nothing else is said. */
export function sql<R>(texts: TemplateStringsArray, ...parts: readonly Part<R>[]): Statement<R>;
export function sql(texts: TemplateStringsArray, ...parts: readonly unknown[]): RawBuilder<unknown> {
  return kysely(texts, ...parts);
}

/** Words of ours in a statement. */
export function plain<R>(text: string): Statement<R>;
export function plain(text: string): RawBuilder<unknown> {
  return kysely.raw(text);
}

export function joined<R>(parts: readonly Statement<R>[], between: string): Statement<R>;
export function joined(parts: readonly RawBuilder<unknown>[], between: string): RawBuilder<unknown> {
  return kysely.join(parts, kysely.raw(between));
}

/** All of them hold. */
export function every(conditions: readonly Statement[]): Statement {
  return conditions.length === 0 ? plain('1 = 1') : joined(conditions, ' AND ');
}

/** Columns of a table, or of its rows under another name. */
export function columns<Table extends keyof Tables, Name extends keyof Tables[Table] & string>(
  _table: Table,
  names: readonly Name[],
  from?: string,
): Statement<Pick<Tables[Table], Name>> {
  return plain(names.map(name => (from === undefined ? name : `${from}.${name}`)).join(', '));
}

/** Tables that are known by their names only. These come from the resources, never from a person. */
export function table(name: string): Statement {
  return plain(name.startsWith('inbox.') ? name : `mirror.${name}`);
}

/** The first row; null where there is none. */
export async function first<R>(reader: Reader, asked: Statement<R>): Promise<R | null> {
  return (await reader.all(asked))[0] ?? null;
}

/** Of what has one row in any case. */
export async function only<R>(reader: Reader, asked: Statement<R>): Promise<R> {
  const [row] = await reader.all(asked);
  if (row === undefined) throw new Error(`no row answers ${reader.shown(asked)}`);
  return row;
}

/** The largest number or the latest instant in a column; null where there is none. */
export async function largest<T extends string | number = string>(
  reader: Reader,
  column: string,
  from: Statement,
): Promise<T | null> {
  const asked = sql<{ largest: T | null }>`SELECT max(${plain(column)}) AS largest FROM ${from}`;
  return (await only(reader, asked)).largest;
}

/** Of a history what stood at an instant: from `valid_from` on, and before `valid_to`. */
export function stoodAt(at: string, from?: string): Statement {
  const of = plain(from === undefined ? '' : `${from}.`);
  return sql`(${of}valid_from <= ${at} AND (${of}valid_to IS NULL OR ${of}valid_to > ${at}))`;
}
