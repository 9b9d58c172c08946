import { POSTGRES } from '../dialect.js';
import { type Answers, type Asked, type Batch, createBinder, type Database } from '../statement.js';
import type { Postgres, Send } from './open.js';

/** Makes batches of whatever sends them: all that is asked is one message, as long as the server has not answered. */
export function createBatches(): (send: Send) => Batch {
  const bind = createBinder(POSTGRES);
  return send => {
    function batch<const All extends readonly (Asked | null)[]>(...all: All): Promise<Answers<All>>;
    async function batch(...all: readonly (Asked | null)[]): Promise<unknown> {
      const wanted = all.filter(each => each !== null);
      const answers = (wanted.length === 0 ? [] : await send(wanted.map(bind))).values();
      return all.map(each => (each === null ? [] : answers.next().value));
    }
    return batch;
  };
}

export function databaseIn({ query, transact }: Postgres): Database {
  const batchOf = createBatches();
  return {
    dialect: POSTGRES,
    look: batchOf(all => Promise.all(all.map(({ text, values }) => query(text, values)))),
    transact: work => transact((_, send) => work(batchOf(send))),
  };
}
