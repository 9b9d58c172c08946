import { createPool, type PoolOptions } from './driver.js';

export type Family = 'inbox' | 'mirror';

/** What a statement is given and answers. */
export type Given = string | number | bigint | boolean | null | Uint8Array | readonly Given[];

/** What the steps of one transaction share; instants are text. */
export interface Steps {
  readonly given: Readonly<Record<string, unknown>>;
  /** Rows for those steps that write many, as JSON. */
  readonly rows?: readonly unknown[];
}

export interface Postgres {
  /** One statement, a round trip. */
  readonly query: <Row extends object>(sql: string, given?: readonly Given[]) => Promise<Row[]>;
  /**
   * Several statements in one transaction and one round trip; answers what they answered, joined. Each sees what others
   * committed while the one before it waited for a lock. See the words on `perform_steps` in the migrations.
   */
  readonly perform: <Answer>(family: Family, statements: readonly string[], steps: Steps) => Promise<Answer>;
  /** Work on one connection, within one transaction. For what is rare: each statement is a round trip. */
  readonly transact: <T>(work: (query: Postgres['query']) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

export function openPostgres(options: PoolOptions): Postgres {
  const pool = createPool(options);
  const query: Postgres['query'] = async (sql, given = []) => (await pool.query(sql, [...given])).rows;
  return {
    query,
    perform: async (family, statements, { given, rows = [] }) => {
      const { rows: answers } = await pool.query(
        `SELECT ${family}.perform_steps($1::text[], $2::jsonb, $3::json) AS answer`,
        [statements, JSON.stringify(given), JSON.stringify(rows)],
      );
      return answers[0].answer;
    },
    transact: async work => {
      const client = await pool.connect();
      let fault: unknown;
      try {
        await client.query('BEGIN');
        const done = await work(async (sql, given = []) => (await client.query(sql, [...given])).rows);
        await client.query('COMMIT');
        return done;
      } catch (error) {
        fault = error;
        throw error;
      } finally {
        // A connection with half a transaction is closed, which undoes it.
        client.release(fault !== undefined);
      }
    },
    close: () => pool.end(),
  };
}
