import { type Asked, AskError, type Question, SAFE_ROLE } from '../../store/contract/asked.js';
import { editDistance } from '../../text/edit-distance.js';
import { sizeOf } from '../../store/contract/question.js';
import type { Relation } from '../../store/contract/relation.js';
import type { Row } from '../../store/contract/tables.js';

/** What is needed to let a person ask in SQL, handed in. */
export interface Asking {
  /** Where it can be ended. Throws `AskError`. */
  readonly ask: (question: Question) => Promise<Asked>;
  readonly describeSchema: () => readonly Relation[];
  readonly ready: readonly ReadyQuestion[];
}

/** A question that others had, ready to be asked. */
export interface ReadyQuestion {
  readonly title: string;
  readonly sql: string;
}

/** What came of a question. */
export type Reply =
  | { readonly columns: readonly string[]; readonly rows: readonly Row[]; readonly hasMore: boolean }
  | { readonly fault: string };

const TIME_LIMIT_MS = 30_000;
const MOST_ROWS = 500;
/** A page of more is none that a browser shows, and several of them would fill the memory. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Each is a process or a connection of its own. */
const AT_ONCE = 2;
/** An answer that its visitor has not read for this long makes room for another question. */
const UNREAD_MS = 1_000;

/** Who asked. */
export interface Visitor {
  /** Aborted once the visitor has left. */
  readonly signal: AbortSignal;
  /** Closes the visitor's connection. */
  readonly hangUp: () => void;
}

interface OpenAnswer {
  readonly hangUp: () => void;
  /** Since when a row waits for the visitor to read on; null while the next one is being found. */
  unreadSince: number | null;
}

/** Answers few questions at a time, and none for ever. */
export function createDesk(
  { ask, describeSchema }: Pick<Asking, 'ask' | 'describeSchema'>,
  now: () => number,
) {
  const open = new Set<OpenAnswer>();

  /** Ends the answer that has been unread for longest, if it has been for long enough. */
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
    if (open.size >= AT_ONCE) makeRoom();
    if (open.size >= AT_ONCE)
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
    /** All rows of it, as they come. Throws `AskError`. */
    stream,
    answer: async (sql: string, visitor: Visitor): Promise<Reply> => {
      try {
        const { columns, rows } = await stream(sql, visitor);
        return { columns, ...(await take(rows, MOST_ROWS)) };
      } catch (error) {
        if (error instanceof AskError) return { fault: describe(error, describeSchema()) };
        throw error;
      }
    },
  };
}

/** Ends an answer that somebody has left, be it before its first row: what is not begun cannot be ended. */
export async function leave(rows: AsyncIterable<Row>): Promise<void> {
  await take(rows, 0);
}

/** So many rows, or fewer where they are long, and whether there are more. */
async function take(all: AsyncIterable<Row>, most: number) {
  const rows: Row[] = [];
  let bytes = 0;
  for await (const row of all) {
    if (rows.length === most || bytes > MOST_BYTES) return { rows, hasMore: true };
    rows.push(row);
    bytes += sizeOf(Object.values(row));
  }
  return { rows, hasMore: false };
}

function describe({ code, message }: AskError, schema: readonly Relation[]): string {
  if (code === 'unsafe_role') return `${message} ${SAFE_ROLE}`;
  if (code === 'unknown_name') return `SQL: ${message}${perhaps(message, schema)}`;
  if (code === 'refused' || code === 'in_brackets') return `SQL: ${message}`;
  if (code === 'time_limit')
    return `The query was ${message}. Select less, or use "carbon-mirror query" with a longer limit.`;
  return `The query was stopped: ${message}.`;
}

const NAMED = /(table|relation|column):? "?([\w.]+)/;
const MOST_NEAR = 4;

/** What may have been meant by a name that is not there: it holds that word, or few letters are otherwise. */
function perhaps(message: string, schema: readonly Relation[]): string {
  const [, kind, said = ''] = NAMED.exec(message) ?? [];
  const name = said.split('.').at(-1)?.toLowerCase() ?? '';
  const called = (each: Relation) => (each.database === 'inbox' ? `inbox.${each.name}` : each.name);
  const having = schema.filter(({ columns }) => columns.some(column => column.name === name));
  if (kind === 'column' && having.length > 0)
    return `. It is a column of ${having.slice(0, MOST_NEAR).map(called).join(', ')}`;
  const names =
    kind === 'column'
      ? schema.flatMap(({ columns }) => columns.map(column => column.name))
      : schema.map(called);
  const far = (other: string) => (other.includes(name) ? 1 : editDistance(name, other.replace('inbox.', '')));
  const near = [...new Set(names)]
    .filter(other => name !== '' && far(other) <= Math.max(2, name.length / 3))
    .toSorted((one, other) => far(one) - far(other) || one.length - other.length)
    .slice(0, MOST_NEAR);
  return near.length === 0 ? '' : `. Did you mean ${near.join(', ')}?`;
}
