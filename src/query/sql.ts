import { type RawBuilder, sql as kysely } from 'kysely';
import type { Given, Statement } from '../store/contract/reader.js';

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

/** Tables that are known by their names only. These come from the resources, never from a person. */
export function table(name: string): Statement {
  return plain(name.startsWith('inbox.') ? name : `mirror.${name}`);
}

/** Of a history what stood at an instant: from `valid_from` on, and before `valid_to`. */
export function stoodAt(at: string, from?: string): Statement {
  const of = plain(from === undefined ? '' : `${from}.`);
  return sql`(${of}valid_from <= ${at} AND (${of}valid_to IS NULL OR ${of}valid_to > ${at}))`;
}
