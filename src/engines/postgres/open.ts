import { createPool, type PoolOptions } from './driver.js';

export type Family = 'inbox' | 'mirror';

/** What a statement is given and answers. */
export type Given = string | number | bigint | boolean | null | Uint8Array | readonly Given[];

export type Query = <Row extends object>(sql: string, given?: readonly Given[]) => Promise<Row[]>;

export interface Postgres {
  /** One statement, a round trip. */
  readonly query: Query;
  /** Work on one connection, within one transaction. For what is rare: each statement is a round trip. */
  readonly transact: <T>(work: (query: Query) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

export function openPostgres(options: PoolOptions): Postgres {
  const pool = createPool(options);
  const query: Query = async (sql, given = []) => (await pool.query(sql, [...given])).rows;
  return {
    query,
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

/** What the steps of one transaction share, and rows for those of them that write many. */
export interface Steps {
  readonly given: Readonly<Record<string, unknown>>;
  readonly rows?: readonly unknown[];
}

/**
 * Several statements in one transaction and one round trip; answers what they answered, joined. Each sees what others
 * committed while the one before it waited for a lock. See the words on `perform_steps` in the migrations.
 */
export async function performSteps<Answer>(
  query: Query,
  family: Family,
  statements: readonly string[],
  { given, rows = [] }: Steps,
): Promise<Answer> {
  const [row] = await query<{ answer: Answer }>(
    `SELECT ${family}.perform_steps($1::text[], $2::jsonb, $3::json) AS answer`,
    [statements, JSON.stringify(given), JSON.stringify(rows)],
  );
  if (row === undefined) throw new Error('expected an answer of perform_steps, got none');
  return row.answer;
}
