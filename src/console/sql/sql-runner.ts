import {
  type StatementRows,
  SqlQueryError,
  type SqlQuery,
  SAFE_ROLE_ADVICE,
  measureRow,
} from '../../store/contract/sql-query.js';
import { suggestNames } from '../../query/sql-names.js';
import type { Relation } from '../../store/contract/describe-schema.js';
import type { Row } from '../../store/contract/tables.js';

/** Access to the mirror by SQL. */
export interface SqlAccess {
  /** Runs a read-only query that can be cancelled. Throws `SqlQueryError`. */
  readonly runQuery: (question: SqlQuery) => Promise<StatementRows>;
  readonly describeSchema: () => readonly Relation[];
  readonly savedQueries: readonly SavedQuery[];
}

/** A query of docs/sql.md, offered on the page. */
export interface SavedQuery {
  readonly title: string;
  readonly sql: string;
}

/** The first rows that a query returned, or why there are none. */
export type QueryResult =
  | { readonly columns: readonly string[]; readonly rows: readonly Row[]; readonly hasMore: boolean }
  | { readonly fault: string };

const TIME_LIMIT_MS = 30_000;
const MAX_ROWS = 500;
/** Browsers fail on larger pages, and several of them would exhaust memory. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Each query has its own process or connection. */
const MAX_RUNNING = 2;
/** After this long without reading, an answer may be cut to make room for another query. */
const UNREAD_MS = 1_000;

/** The browser that a query runs for. */
export interface QueryVisitor {
  /** Aborted when the visitor disconnects. */
  readonly signal: AbortSignal;
  /** Closes the visitor's connection. */
  readonly hangUp: () => void;
}

/** A query whose rows are being sent to a visitor. */
interface RunningQuery {
  readonly hangUp: () => void;
  /** Since when a row waits to be read; null while the next row is being computed. */
  unreadSince: number | null;
}

/** Creates a runner for visitors' SQL queries. Limits how many queries run at the same time. */
export function createSqlRunner(
  { runQuery, describeSchema }: Pick<SqlAccess, 'runQuery' | 'describeSchema'>,
  now: () => number,
) {
  const running = new Set<RunningQuery>();

  /**
   * Disconnects the visitor whose next row has waited longest to be read, to make room for another query. Disconnects nobody if no
   * row has waited for a second.
   */
  function disconnectSlowestVisitor(): void {
    const [unread] = [...running]
      .filter(({ unreadSince }) => unreadSince !== null && now() - unreadSince >= UNREAD_MS)
      .toSorted((one, other) => Number(one.unreadSince) - Number(other.unreadSince));
    if (unread === undefined) return;
    running.delete(unread);
    unread.hangUp();
  }

  /**
   * Yields the rows of a query unchanged. While a row waits for the consumer of the stream, `query.unreadSince` is the time at which this
   * wait began; otherwise it is null. At the end, removes the query from the running queries.
   */
  async function* trackReading(rows: AsyncIterable<Row>, query: RunningQuery): AsyncGenerator<Row> {
    try {
      for await (const row of rows) {
        query.unreadSince = now();
        yield row;
        query.unreadSince = null;
      }
    } finally {
      running.delete(query);
    }
  }

  /**
   * Runs a visitor's query and streams its rows, which the caller must read to the end or pass to `discardRows`. Throws
   * `SqlQueryError` if the query fails or too many queries are running.
   */
  async function streamRows(sql: string, { signal, hangUp }: QueryVisitor): Promise<StatementRows> {
    // Make room by cutting a query whose visitor has stopped reading.
    if (running.size >= MAX_RUNNING) disconnectSlowestVisitor();
    if (running.size >= MAX_RUNNING)
      throw new SqlQueryError('refused', 'two queries are already running; try again in a moment');
    const query: RunningQuery = { hangUp, unreadSince: null };
    running.add(query);
    try {
      const { columns, rows } = await runQuery({ sql, timeLimitMs: TIME_LIMIT_MS, signal });
      return { columns, rows: trackReading(rows, query) };
    } catch (error) {
      running.delete(query);
      throw error;
    }
  }

  return {
    streamRows,
    /** Runs a query and returns the first rows, or a sentence that explains why the query failed. */
    readFirstRows: async (sql: string, visitor: QueryVisitor): Promise<QueryResult> => {
      try {
        const { columns, rows } = await streamRows(sql, visitor);
        return { columns, ...(await readFirstRowsOf(rows, MAX_ROWS)) };
      } catch (error) {
        if (error instanceof SqlQueryError)
          return { fault: describeQueryError(error, describeSchema(), sql) };
        throw error;
      }
    },
  };
}

/** Ends a query by closing the stream of its rows, so that another query can run. */
export async function discardRows(rows: AsyncIterable<Row>): Promise<void> {
  // Start the stream first: closing a stream that was never started releases nothing.
  await readFirstRowsOf(rows, 0);
}

/** Reads up to `limit` rows, or about 4 MB, from a stream and closes it. `hasMore` tells whether rows were left out. */
async function readFirstRowsOf(source: AsyncIterable<Row>, limit: number) {
  const rows: Row[] = [];
  let bytes = 0;
  for await (const row of source) {
    if (rows.length === limit || bytes > MAX_BYTES) return { rows, hasMore: true };
    rows.push(row);
    bytes += measureRow(Object.values(row));
  }
  return { rows, hasMore: false };
}

/** Explains to the visitor why a query failed. Suggests similar names for an unknown table or column. */
function describeQueryError(
  { code, message }: SqlQueryError,
  schema: readonly Relation[],
  query: string,
): string {
  if (code === 'unsafe_role') return `${message} ${SAFE_ROLE_ADVICE}`;
  if (code === 'unknown_name')
    return `SQL: ${[message, suggestNames(message, schema, query)].filter(part => part !== null).join('. ')}`;
  if (code === 'refused' || code === 'in_brackets') return `SQL: ${message}`;
  if (code === 'time_limit')
    return `The query was ${message}. Select less, or use "carbon-mirror query" with a longer limit.`;
  return `The query was stopped: ${message}.`;
}
