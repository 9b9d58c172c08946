import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from 'kysely';
import type { Pool, PoolClient, QueryResult as ServerResult } from 'pg';

/** Begins each transaction. The search path lets queries omit the schema name; a pooler may forget it between transactions. */
const BEGIN = 'BEGIN READ ONLY; SET LOCAL search_path = mirror';
const DEFAULT_CHUNK = 100;

/** Creates a Kysely driver that runs each query in a read-only transaction, so that the server refuses writes. */
export function createReadOnlyDriver(pool: Pool): Driver {
  const toReadOnlyConnection = (connection: DatabaseConnection): ReadOnlyConnection => {
    if (connection instanceof ReadOnlyConnection) return connection;
    throw new TypeError('expected a connection of this driver');
  };
  return {
    init: async () => undefined,
    acquireConnection: async () => new ReadOnlyConnection(await pool.connect()),
    beginTransaction: (connection, settings) => toReadOnlyConnection(connection).beginTransaction(settings),
    commitTransaction: connection => toReadOnlyConnection(connection).endTransaction('COMMIT'),
    rollbackTransaction: connection => toReadOnlyConnection(connection).endTransaction('ROLLBACK'),
    releaseConnection: async connection => toReadOnlyConnection(connection).release(),
    destroy: () => pool.end(),
  };
}

/** A connection for Kysely on which each query runs in a read-only transaction. */
class ReadOnlyConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  #isInTransaction = false;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  /** Begins a read-only transaction on this connection, in which queries may omit the schema name `mirror`. */
  async beginTransaction({ isolationLevel }: TransactionSettings): Promise<void> {
    const level = isolationLevel === undefined ? '' : `; SET TRANSACTION ISOLATION LEVEL ${isolationLevel}`;
    await this.#client.query(`${BEGIN}${level}`);
    this.#isInTransaction = true;
  }

  /** Commits or rolls back the open transaction of this connection. */
  async endTransaction(command: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    this.#isInTransaction = false;
    await this.#client.query(command);
  }

  release(): void {
    this.#client.release();
  }

  /** Runs a query in the open transaction, or in a read-only transaction of its own if none is open. */
  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#isInTransaction) return { rows: (await this.#sendQuery<Row>(query)).rows };
    await this.beginTransaction({});
    try {
      const { rows } = await this.#sendQuery<Row>(query);
      await this.endTransaction('COMMIT');
      return { rows };
    } catch (error) {
      // If the rollback fails too, the connection is lost, and the error of the query is the useful one.
      await this.endTransaction('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  /** Streams the rows of a query through a cursor, in the open transaction or in one of its own. */
  async *streamQuery<Row>(
    query: CompiledQuery,
    chunkSize = DEFAULT_CHUNK,
  ): AsyncIterableIterator<QueryResult<Row>> {
    const isOwnTransaction = !this.#isInTransaction;
    if (isOwnTransaction) await this.beginTransaction({});
    try {
      await this.#sendQuery({ ...query, sql: `DECLARE streamed NO SCROLL CURSOR FOR ${query.sql}` });
      for (let isLast = false; !isLast; ) {
        const { rows } = await this.#client.query<Row & object>(`FETCH ${chunkSize} FROM streamed`);
        isLast = rows.length < chunkSize;
        if (rows.length > 0) yield { rows };
      }
    } finally {
      if (isOwnTransaction) await this.endTransaction('ROLLBACK');
      else await this.#client.query('CLOSE streamed');
    }
  }

  /**
   * Sends one query to the server and returns its result. The extended protocol refuses a text of several statements, so a query
   * cannot end the read-only transaction.
   */
  async #sendQuery<Row>({ sql, parameters }: CompiledQuery): Promise<ServerResult<Row & object>> {
    const config = { text: sql, values: [...parameters], queryMode: 'extended' };
    return await this.#client.query<Row & object>(config);
  }
}
