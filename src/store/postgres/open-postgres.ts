import type { Value } from '../contract/tables.js';
import type { StatementWithValues } from '../dialect.js';
import { createPool, type Pool, type PoolOptions } from './driver.js';
import { translateErrors } from './translate-errors.js';

/** Runs one statement. After a timeout the connection is closed, and the statement may still have taken effect. */
export type RunQuery = <Row extends object>(
  sql: string,
  values?: readonly Value[],
  timeoutMs?: number,
) => Promise<Row[]>;

/** Sends several statements in one message and returns the rows of each. Waits for all results, then throws the first error. */
export type SendBatch = (statements: readonly StatementWithValues[]) => Promise<readonly unknown[][]>;

/** An open transaction. Its connection is used for nothing else until it ends. */
export interface Transaction {
  readonly query: <Row extends object>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;
  readonly send: SendBatch;
  readonly commit: () => Promise<void>;
  readonly rollback: () => Promise<void>;
  /** Closes the connection, which rolls the transaction back. */
  readonly abandon: () => void;
}

/** A pool of connections to one database. Connects at first use. */
export interface Postgres {
  /** Runs one statement in a transaction of its own. */
  readonly query: RunQuery;
  /** Runs one statement and returns the server's warnings. */
  readonly runForWarnings: (sql: string) => Promise<string[]>;
  /** Runs a whole transaction in one message, beginning with settings. No statement can use the rows of another. */
  readonly sendTransaction: (
    settings: string,
    ...sent: [...Parameters<SendBatch>, timeoutMs: number]
  ) => ReturnType<SendBatch>;
  /** Begins a transaction. `modes` is the SQL after BEGIN, such as `READ ONLY`. */
  readonly begin: (modes?: string) => Promise<Transaction>;
  /** Runs `work` in a transaction. Rolls back if `work` throws. */
  readonly transact: <T>(work: (query: RunQuery, send: SendBatch) => Promise<T>) => Promise<T>;
  /** Listens to a channel on a connection of its own. Returns a function that stops listening. */
  readonly listen: (channel: string, onNotification: () => void, onLost: () => void) => Promise<() => void>;
  readonly close: () => Promise<void>;
}

/** The first characters of a warning's SQLSTATE. The severity cannot be compared, because servers translate it. */
const WARNING_CLASS = '01';

/** Creates a pool of connections and the functions that use it. Connects at first use. */
export function openPostgres(options: PoolOptions): Postgres {
  const pool = createPool(options);
  const begin = (modes = '') => beginTransaction(pool, modes);
  const query: RunQuery = async (text, values = [], timeoutMs = 0) => {
    const config = { text, values: [...values], query_timeout: timeoutMs };
    return (await translateErrors(() => pool.query(config))).rows;
  };
  return {
    query,
    runForWarnings: text => translateErrors(() => runForWarnings(pool, text)),
    begin,
    sendTransaction: async (settings, all, timeoutMs) => {
      const transaction = await beginTransaction(pool, `; ${settings}`, timeoutMs);
      const sent = transaction.send(all);
      const committed = transaction.commit();
      try {
        await Promise.allSettled([sent, committed]);
        const answers = await sent;
        await committed;
        return answers;
      } catch (error) {
        await transaction.rollback();
        throw error;
      }
    },
    transact: async work => {
      const transaction = await begin();
      try {
        const done = await work(transaction.query, transaction.send);
        await transaction.commit();
        return done;
      } catch (error) {
        await transaction.rollback();
        throw error;
      }
    },
    listen: async (channel, onNotification, onLost) => {
      const client = await translateErrors(() => pool.connect());
      let isOver = false;
      const closeClient = (): void => {
        if (isOver) return;
        isOver = true;
        client.release(true);
      };
      client.on('notification', onNotification);
      client.once('end', () => {
        closeClient();
        onLost();
      });
      try {
        await translateErrors(() => client.query(`LISTEN ${channel}`));
        return closeClient;
      } catch (error) {
        closeClient();
        throw error;
      }
    },
    close: () => pool.end(),
  };
}

/** Runs one statement on a connection of its own and returns the warnings of the server. Closes the connection. */
async function runForWarnings(pool: Pool, text: string): Promise<string[]> {
  const client = await pool.connect();
  const warnings: string[] = [];
  client.on('notice', ({ code, message }) => {
    if (code?.startsWith(WARNING_CLASS) && message !== undefined) warnings.push(message);
  });
  try {
    await client.query(text);
    return warnings;
  } finally {
    client.release(true);
  }
}

/**
 * Begins a transaction on a connection of the pool. `modes` follow BEGIN, such as `READ ONLY`. A `timeoutMs` of 0 sets no limit for
 * a statement.
 */
async function beginTransaction(pool: Pool, modes: string, timeoutMs = 0): Promise<Transaction> {
  const client = await translateErrors(() => pool.connect());
  const run = (text: string, values: readonly unknown[] = []) => {
    const config = { text, values: [...values], query_timeout: timeoutMs };
    return translateErrors(() => client.query(config));
  };
  // The first statement is sent together with BEGIN, before the server has answered.
  const beginning = Promise.allSettled([run(`BEGIN ${modes}`)]);
  const abandon = () => client.release(true);
  const awaitAll = async (results: readonly ReturnType<typeof run>[]) => {
    const settled = (await Promise.all([beginning, Promise.allSettled(results)])).flat();
    const failed = settled.find(each => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return settled.flatMap(each => (each.status === 'fulfilled' ? [each.value] : [])).slice(1);
  };
  const endTransaction = async (command: 'COMMIT' | 'ROLLBACK') => {
    const [result] = await awaitAll([run(command)]);
    // The server answers COMMIT with ROLLBACK if a statement has failed.
    if (result?.command !== command)
      throw new Error(`expected ${command}, and the server answered ${result?.command}`);
    client.release();
  };
  return {
    query: async (sql, values) => (await awaitAll([run(sql, values)]))[0]?.rows ?? [],
    send: async all =>
      (await awaitAll(all.map(({ text, values }) => run(text, values)))).map(({ rows }) => rows),
    commit: () => endTransaction('COMMIT'),
    rollback: () => endTransaction('ROLLBACK').catch(abandon),
    abandon,
  };
}
