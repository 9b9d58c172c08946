import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from 'kysely';
import type { Pool, PoolClient, QueryResult as ServerResult } from 'pg';

/** Begins each transaction. The search path lets queries omit the schema name; a pooler may forget it between transactions. */
const BEGIN = 'BEGIN READ ONLY; SET LOCAL search_path = mirror';
const DEFAULT_CHUNK = 100;

/** Creates a Kysely driver that runs each query in a read-only transaction, so that the server refuses writes. */
export function createReadOnlyDriver(pool: Pool): Driver {
  const find = (connection: DatabaseConnection): ReadOnlyConnection => {
    if (connection instanceof ReadOnlyConnection) return connection;
    throw new TypeError('expected a connection of this driver');
  };
  return {
    init: async () => undefined,
    acquireConnection: async () => new ReadOnlyConnection(await pool.connect()),
    beginTransaction: (connection, settings) => find(connection).begin(settings),
    commitTransaction: connection => find(connection).end('COMMIT'),
    rollbackTransaction: connection => find(connection).end('ROLLBACK'),
    releaseConnection: async connection => find(connection).release(),
    destroy: () => pool.end(),
  };
}

class ReadOnlyConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  #isInTransaction = false;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  async begin({ isolationLevel }: TransactionSettings): Promise<void> {
    const level = isolationLevel === undefined ? '' : `; SET TRANSACTION ISOLATION LEVEL ${isolationLevel}`;
    await this.#client.query(`${BEGIN}${level}`);
    this.#isInTransaction = true;
  }

  async end(command: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    this.#isInTransaction = false;
    await this.#client.query(command);
  }

  release(): void {
    this.#client.release();
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#isInTransaction) return { rows: (await this.#run<Row>(query)).rows };
    await this.begin({});
    try {
      const { rows } = await this.#run<Row>(query);
      await this.end('COMMIT');
      return { rows };
    } catch (error) {
      // If the rollback fails too, the connection is lost, and the error of the query is the useful one.
      await this.end('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  async *streamQuery<Row>(
    query: CompiledQuery,
    chunkSize = DEFAULT_CHUNK,
  ): AsyncIterableIterator<QueryResult<Row>> {
    const isOwnTransaction = !this.#isInTransaction;
    if (isOwnTransaction) await this.begin({});
    try {
      await this.#run({ ...query, sql: `DECLARE streamed NO SCROLL CURSOR FOR ${query.sql}` });
      for (let isLast = false; !isLast; ) {
        const { rows } = await this.#client.query<Row & object>(`FETCH ${chunkSize} FROM streamed`);
        isLast = rows.length < chunkSize;
        if (rows.length > 0) yield { rows };
      }
    } finally {
      if (isOwnTransaction) await this.end('ROLLBACK');
      else await this.#client.query('CLOSE streamed');
    }
  }

  /** Sends one statement. The extended protocol refuses a text with several, so a query cannot end the transaction. */
  async #run<Row>({ sql, parameters }: CompiledQuery): Promise<ServerResult<Row & object>> {
    const config = { text: sql, values: [...parameters], queryMode: 'extended' };
    return await this.#client.query<Row & object>(config);
  }
}
