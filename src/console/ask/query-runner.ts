import { type Asked, AskError, type Question, SAFE_ROLE } from '../../store/contract/asked.js';
import { computeEditDistance } from '../../text/edit-distance.js';
import { sizeOf } from '../../store/contract/question.js';
import type { Relation } from '../../store/contract/relation.js';
import type { Row } from '../../store/contract/tables.js';

/** Access to the mirror by SQL. */
export interface SqlAccess {
  /** Runs a read-only query that can be cancelled. Throws `AskError`. */
  readonly ask: (question: Question) => Promise<Asked>;
  readonly describeSchema: () => readonly Relation[];
  readonly ready: readonly SavedQuery[];
}

/** A query of docs/sql.md, offered on the page. */
export interface SavedQuery {
  readonly title: string;
  readonly sql: string;
}

/** The first rows of an answer, or why there are none. */
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
export interface Visitor {
  /** Aborted when the visitor disconnects. */
  readonly signal: AbortSignal;
  /** Closes the visitor's connection. */
  readonly hangUp: () => void;
}

interface OpenAnswer {
  readonly hangUp: () => void;
  /** Since when a row waits to be read; null while the next row is being computed. */
  unreadSince: number | null;
}

/** Limits how many queries run at once, and cuts answers that nobody reads. */
export function createQueryRunner(
  { ask, describeSchema }: Pick<SqlAccess, 'ask' | 'describeSchema'>,
  now: () => number,
) {
  const open = new Set<OpenAnswer>();

  /** Cuts the answer that has waited longest, if it has waited for `UNREAD_MS`. */
  function makeRoom(): void {
    const [unread] = [...open]
      .filter(({ unreadSince }) => unreadSince !== null && now() - unreadSince >= UNREAD_MS)
      .toSorted((one, other) => Number(one.unreadSince) - Number(other.unreadSince));
    if (unread === undefined) return;
    open.delete(unread);
    unread.hangUp();
  }

  async function* follow(rows: AsyncIterable<Row>, answer: OpenAnswer): AsyncGenerator<Row> {
    try {
      for await (const row of rows) {
        answer.unreadSince = now();
        yield row;
        answer.unreadSince = null;
      }
    } finally {
      open.delete(answer);
    }
  }

  async function stream(sql: string, { signal, hangUp }: Visitor): Promise<Asked> {
    if (open.size >= MAX_RUNNING) makeRoom();
    if (open.size >= MAX_RUNNING)
      throw new AskError('refused', 'two queries are already running; try again in a moment');
    const answer: OpenAnswer = { hangUp, unreadSince: null };
    open.add(answer);
    try {
      const { columns, rows } = await ask({ sql, timeLimitMs: TIME_LIMIT_MS, signal });
      return { columns, rows: follow(rows, answer) };
    } catch (error) {
      open.delete(answer);
      throw error;
    }
  }

  return {
    /** Streams all rows. Throws `AskError`. */
    stream,
    answer: async (sql: string, visitor: Visitor): Promise<QueryResult> => {
      try {
        const { columns, rows } = await stream(sql, visitor);
        return { columns, ...(await takeRows(rows, MAX_ROWS)) };
      } catch (error) {
        if (error instanceof AskError) return { fault: describeAskError(error, describeSchema()) };
        throw error;
      }
    },
  };
}

/** Ends an answer without reading it. A stream that was never started cannot be closed otherwise. */
export async function discardRows(rows: AsyncIterable<Row>): Promise<void> {
  await takeRows(rows, 0);
}

/** Returns the first rows up to both limits, and whether there are more. */
async function takeRows(all: AsyncIterable<Row>, limit: number) {
  const rows: Row[] = [];
  let bytes = 0;
  for await (const row of all) {
    if (rows.length === limit || bytes > MAX_BYTES) return { rows, hasMore: true };
    rows.push(row);
    bytes += sizeOf(Object.values(row));
  }
  return { rows, hasMore: false };
}

function describeAskError({ code, message }: AskError, schema: readonly Relation[]): string {
  if (code === 'unsafe_role') return `${message} ${SAFE_ROLE}`;
  if (code === 'unknown_name') return `SQL: ${message}${suggestNames(message, schema)}`;
  if (code === 'refused' || code === 'in_brackets') return `SQL: ${message}`;
  if (code === 'time_limit')
    return `The query was ${message}. Select less, or use "carbon-mirror query" with a longer limit.`;
  return `The query was stopped: ${message}.`;
}

const NAMED = /(table|relation|column):? "?([\w.]+)/;
const MAX_SUGGESTIONS = 4;

/** Suggests existing names that contain an unknown name or are spelled like it. */
function suggestNames(message: string, schema: readonly Relation[]): string {
  const [, kind, said = ''] = NAMED.exec(message) ?? [];
  const name = said.split('.').at(-1)?.toLowerCase() ?? '';
  const called = (each: Relation) => (each.database === 'inbox' ? `inbox.${each.name}` : each.name);
  const having = schema.filter(({ columns }) => columns.some(column => column.name === name));
  if (kind === 'column' && having.length > 0)
    return `. It is a column of ${having.slice(0, MAX_SUGGESTIONS).map(called).join(', ')}`;
  const names =
    kind === 'column'
      ? schema.flatMap(({ columns }) => columns.map(column => column.name))
      : schema.map(called);
  const far = (other: string) =>
    other.includes(name) ? 1 : computeEditDistance(name, other.replace('inbox.', ''));
  const near = [...new Set(names)]
    .filter(other => name !== '' && far(other) <= Math.max(2, name.length / 3))
    .toSorted((one, other) => far(one) - far(other) || one.length - other.length)
    .slice(0, MAX_SUGGESTIONS);
  return near.length === 0 ? '' : `. Did you mean ${near.join(', ')}?`;
}
