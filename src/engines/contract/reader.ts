import type { Kysely, RawBuilder } from 'kysely';
import type { Tables } from './tables.js';

/** Rows stream in groups of so many: few enough to be small, enough to cost little each. */
export const AT_ONCE = 100;

/** Where statements that were written out are asked: what makes statements takes longer to load than many answers. */
export interface Plain {
  /**
   * Rows of cells, each a text, a whole number that a number holds or null, and what comes after `SELECT` and them. In it `$1`
   * is the first that is given; nothing else of it comes from a person.
   */
  readonly rows: <Row extends readonly unknown[]>(
    cells: readonly string[],
    from: string,
    given?: readonly (string | number)[],
  ) => Promise<Row[]>;
  /** A table of the mirror. */
  readonly table: (name: string) => string;
}

/** What engines say differently. */
export interface Expressions {
  /** What is asked where a maker of statements asks: in its transaction, where it is one. */
  plain(db: Kysely<Tables>): Plain;
  /** Whole numbers as a table of one column, however many there are: for `in`. */
  each(values: readonly number[]): RawBuilder<number>;
}

/**
 * Where readers ask, written once for every engine: the mirror's tables by their own names, the inbox's as `inbox.jobs`.
 * An integer comes as a number, and as a bigint only where no number holds it. A text that no row can hold, with a NUL or
 * a lone surrogate, is asked for as it was kept.
 */
export interface Reader extends Plain {
  readonly db: Kysely<Tables>;
  readonly say: Expressions;
}

/** What holds connections. */
interface Open {
  close(): Promise<void>;
}

export interface OpenReader extends Reader, Open {}
