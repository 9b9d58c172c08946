import type { Kysely, RawBuilder } from 'kysely';
import type { Tables } from './tables.js';

/** Rows stream in groups of so many: few enough to be small, enough to cost little each. */
export const AT_ONCE = 100;

/** What engines say differently. */
export interface Expressions {
  /** Whole numbers as a table of one column, however many there are: for `in`. */
  each(values: readonly number[]): RawBuilder<number>;
  /** Texts likewise. */
  texts(values: readonly string[]): RawBuilder<string>;
}

/**
 * Where readers ask, written once for every engine: the mirror's tables by their own names, the inbox's as `inbox.jobs`.
 * An integer comes as a number, and as a bigint only where no number holds it. A text that no row can hold, with a NUL or
 * a lone surrogate, is asked for as it was kept.
 */
export interface Reader {
  readonly db: Kysely<Tables>;
  readonly say: Expressions;
}

/** What holds connections. */
interface Open {
  close(): Promise<void>;
}

export interface OpenReader extends Reader, Open {}
