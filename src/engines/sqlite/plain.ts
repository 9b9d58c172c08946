import type { Plain } from '../contract/reader.js';
import type { Sqlite } from './open.js';

export function plainOf(db: Sqlite): Plain {
  return {
    /** The driver hands over one long text sooner than many short ones. */
    rows: async <Row extends readonly unknown[]>(
      cells: readonly string[],
      from: string,
      given: readonly unknown[] = [],
    ) => {
      const asked = db.prepare<unknown[], string>(`SELECT json_array(${cells.join(', ')}) ${from}`);
      const rows: Row[] = JSON.parse(`[${asked.pluck().all(named(given)).join(',')}]`);
      return rows;
    },
    table: name => name,
  };
}

/** To the driver `$1` is a name. */
function named(given: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(given.map((value, index) => [index + 1, value]));
}
