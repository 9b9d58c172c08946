import type { Bound } from '../dialect.js';
import { createPool, type Pool, type PoolOptions } from './driver.js';
import { named } from './errors.js';

/** What a statement is given and answers. */
type Given = string | number | bigint | boolean | null | Uint8Array | readonly Given[];

/** One that takes longer than it may is given up with its connection, and may still have been done. */
export type Query = <Row extends object>(
  sql: string,
  given?: readonly Given[],
  timeoutMs?: number,
) => Promise<Row[]>;

/** Several statements in one message. Waits for the answers to all of them, and throws the first fault. */
export type Send = (all: readonly Bound[]) => Promise<readonly unknown[][]>;

/** One transaction that is open, on a connection of its own. */
export interface Transaction {
  readonly query: <Row extends object>(sql: string, given?: readonly unknown[]) => Promise<Row[]>;
  readonly send: Send;
  readonly commit: () => Promise<void>;
  readonly undo: () => Promise<void>;
  /** Its connection is closed, which undoes it. */
  readonly abandon: () => void;
}

export interface Postgres {
  /** One statement, a round trip. */
  readonly query: Query;
  /** One statement whose rows nobody needs: answers what the server warned of. */
  readonly warnings: (sql: string) => Promise<string[]>;
  /** A transaction of statements that need no answer of one another, after some settings: all of it in one message. */
  readonly whole: (settings: string, ...sent: [...Parameters<Send>, answerMs: number]) => ReturnType<Send>;
  /** In the modes that are named, as SQL has them. */
  readonly begin: (modes?: string) => Promise<Transaction>;
  /** Work on one connection, within one transaction. A query is a round trip. */
  readonly transact: <T>(work: (query: Query, send: Send) => Promise<T>) => Promise<T>;
  /** Hears a channel on a connection of its own, until that is lost or the answered function is called. */
  readonly listen: (channel: string, heard: () => void, lost: () => void) => Promise<() => void>;
  readonly close: () => Promise<void>;
}

/** As its SQLSTATE begins: the name of its severity is in the language of the server. */
const WARNING = '01';

export function openPostgres(options: PoolOptions): Postgres {
  const pool = createPool(options);
  const begin = (modes = '') => beginOn(pool, modes);
  const query: Query = async (text, given = [], timeoutMs = 0) => {
    const asked = { text, values: [...given], query_timeout: timeoutMs };
    return (await named(() => pool.query(asked))).rows;
  };
  return {
    query,
    warnings: text => named(() => warningsOn(pool, text)),
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
    listen: async (channel, heard, lost) => {
      const client = await named(() => pool.connect());
      let isOver = false;
      const end = (): void => {
        if (isOver) return;
        isOver = true;
        client.release(true);
      };
      client.on('notification', heard);
      client.once('end', () => {
        end();
        lost();
      });
      try {
        await named(() => client.query(`LISTEN ${channel}`));
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

/** BEGIN goes with the first statement. Whose COMMIT is answered by anything else has committed nothing. */
async function beginOn(pool: Pool, modes: string, answerMs = 0): Promise<Transaction> {
  const client = await named(() => pool.connect());
  const ask = (text: string, given: readonly unknown[] = []) => {
    const asked = { text, values: [...given], query_timeout: answerMs };
    return named(() => client.query(asked));
  };
  const begun = Promise.allSettled([ask(`BEGIN ${modes}`)]);
  const abandon = () => client.release(true);
  const answersOf = async (asked: readonly ReturnType<typeof ask>[]) => {
    const settled = (await Promise.all([begun, Promise.allSettled(asked)])).flat();
    const failed = settled.find(each => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return settled.flatMap(each => (each.status === 'fulfilled' ? [each.value] : [])).slice(1);
  };
  const end = async (sql: string) => {
    const [ended] = await answersOf([ask(sql)]);
    if (ended?.command !== sql) throw new Error(`expected ${sql}, and the server answered ${ended?.command}`);
    client.release();
  };
  return {
    query: async (sql, given) => (await answersOf([ask(sql, given)]))[0]?.rows ?? [],
    send: async all =>
      (await answersOf(all.map(({ text, values }) => ask(text, values)))).map(({ rows }) => rows),
    commit: () => end('COMMIT'),
    undo: () => end('ROLLBACK').catch(abandon),
    abandon,
  };
}
