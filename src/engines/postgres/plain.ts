import { text } from '../../resources/columns.js';
import type { Plain } from '../contract/reader.js';
import { instantFor } from './driver.js';
import type { Postgres } from './open.js';

export function plainOf({ rows }: Pick<Postgres, 'rows'>): Plain {
  return {
    rows: async <Row extends readonly unknown[]>(
      cells: readonly string[],
      from: string,
      given: readonly (string | number)[] = [],
    ) =>
      await rows<Row>(
        `SELECT ${cells.join(', ')} ${from}`,
        given.map(value => (typeof value === 'string' ? asKept(value) : value)),
      ),
    table: name => `mirror.${name}`,
  };
}

const BEFORE_YEAR_1 = /^(0000|-\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A text that is asked for, as a row would hold it. */
export function asKept(value: string): string | null {
  return BEFORE_YEAR_1.test(value) ? instantFor(value) : text(value);
}
