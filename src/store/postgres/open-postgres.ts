import type { StatementWithValues, Value } from '../dialect.js';
import { createPool, type Pool, type PoolOptions } from './driver.js';
import { translateErrors } from './translate-errors.js';

/** Runs one statement. After a timeout the connection is closed, and the statement may still have taken effect. */
export type Query = <Row extends object>(
  sql: string,
  values?: readonly Value[],
  timeoutMs?: number,
) => Promise<Row[]>;

/** Sends several statements in one message. Waits for all results, and throws the first error. */
export type Send = (all: readonly StatementWithValues[]) => Promise<readonly unknown[][]>;

/** An open transaction, on a connection of its own. */
export interface Transaction {
  readonly query: <Row extends object>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;
  readonly send: Send;
  readonly commit: () => Promise<void>;
  readonly undo: () => Promise<void>;
  /** Closes the connection, which rolls the transaction back. */
  readonly abandon: () => void;
}

export interface Postgres {
  /** Runs one statement, which is a transaction and a round trip. */
  readonly query: Query;
  /** Runs one statement, and returns the warnings of the server instead of rows. */
  readonly warnings: (sql: string) => Promise<string[]>;
  /** Runs a transaction in one message: settings, and then statements that do not need the results of one another. */
  readonly whole: (settings: string, ...sent: [...Parameters<Send>, answerMs: number]) => ReturnType<Send>;
  /** Begins a transaction. `modes` are the words of SQL after BEGIN. */
  readonly begin: (modes?: string) => Promise<Transaction>;
  /** Does work in a transaction. Each query is a round trip. */
  readonly transact: <T>(work: (query: Query, send: Send) => Promise<T>) => Promise<T>;
  /** Listens to a channel on a connection of its own, until the connection is lost or the returned function is called. */
  readonly listen: (channel: string, onNotification: () => void, onLost: () => void) => Promise<() => void>;
  readonly close: () => Promise<void>;
}

/** How the SQLSTATE of a warning begins. The severity is a word in the language of the server. */
const WARNING = '01';

export function openPostgres(options: PoolOptions): Postgres {
  const pool = createPool(options);
  const begin = (modes = '') => beginOn(pool, modes);
  const query: Query = async (text, values = [], timeoutMs = 0) => {
    const config = { text, values: [...values], query_timeout: timeoutMs };
    return (await translateErrors(() => pool.query(config))).rows;
  };
  return {
    query,
    warnings: text => translateErrors(() => warningsOn(pool, text)),
    begin,
    whole: async (settings, all, answerMs) => {
      const transaction = await beginOn(pool, `; ${settings}`, answerMs);
      const sent = transaction.send(all);
      const committed = transaction.commit();
      try {
        await Promise.allSettled([sent, committed]);
        const answers = await sent;
        await committed;
        return answers;
      } catch (error) {
        await transaction.undo();
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
        await transaction.undo();
        throw error;
      }
    },
    listen: async (channel, onNotification, onLost) => {
      const client = await translateErrors(() => pool.connect());
      let isOver = false;
      const end = (): void => {
        if (isOver) return;
        isOver = true;
        client.release(true);
      };
      client.on('notification', onNotification);
      client.once('end', () => {
        end();
        onLost();
      });
      try {
        await translateErrors(() => client.query(`LISTEN ${channel}`));
        return end;
      } catch (error) {
        end();
        throw error;
      }
    },
    close: () => pool.end(),
  };
}

async function warningsOn(pool: Pool, text: string): Promise<string[]> {
  const client = await pool.connect();
  const warnings: string[] = [];
  client.on('notice', ({ code, message }) => {
    if (code?.startsWith(WARNING) && message !== undefined) warnings.push(message);
  });
  try {
    await client.query(text);
    return warnings;
  } finally {
    client.release(true);
  }
}

/** BEGIN is sent together with the first statement. A transaction whose COMMIT has another result was not committed. */
async function beginOn(pool: Pool, modes: string, answerMs = 0): Promise<Transaction> {
  const client = await translateErrors(() => pool.connect());
  const run = (text: string, values: readonly unknown[] = []) => {
    const config = { text, values: [...values], query_timeout: answerMs };
    return translateErrors(() => client.query(config));
  };
  const begun = Promise.allSettled([run(`BEGIN ${modes}`)]);
  const abandon = () => client.release(true);
  const awaitAll = async (results: readonly ReturnType<typeof run>[]) => {
    const settled = (await Promise.all([begun, Promise.allSettled(results)])).flat();
    const failed = settled.find(each => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return settled.flatMap(each => (each.status === 'fulfilled' ? [each.value] : [])).slice(1);
  };
  const end = async (sql: string) => {
    const [ended] = await awaitAll([run(sql)]);
    if (ended?.command !== sql) throw new Error(`expected ${sql}, and the server answered ${ended?.command}`);
    client.release();
  };
  return {
    query: async (sql, values) => (await awaitAll([run(sql, values)]))[0]?.rows ?? [],
    send: async all =>
      (await awaitAll(all.map(({ text, values }) => run(text, values)))).map(({ rows }) => rows),
    commit: () => end('COMMIT'),
    undo: () => end('ROLLBACK').catch(abandon),
    abandon,
  };
}
