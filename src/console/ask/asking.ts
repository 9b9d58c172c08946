import { type Asked, AskError, type Question } from '../../store/contract/asked.js';
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

/** Answers few questions at a time, and none for ever. */
export function createDesk({ ask }: Pick<Asking, 'ask'>) {
  let busy = 0;

  async function stream(sql: string, signal: AbortSignal): Promise<Asked> {
    if (busy >= AT_ONCE)
      throw new AskError('refused', 'two questions are being answered; ask again in a moment');
    busy += 1;
    try {
      const { columns, rows } = await ask({ sql, timeLimitMs: TIME_LIMIT_MS, signal });
      return { columns, rows: released(rows, () => (busy -= 1)) };
    } catch (error) {
      busy -= 1;
      throw error;
    }
  }

  return {
    /** All rows of it, as they come. Throws `AskError`. */
    stream,
    answer: async (sql: string, signal: AbortSignal): Promise<Reply> => {
      try {
        const { columns, rows } = await stream(sql, signal);
        const taken = await take(rows, MOST_ROWS + 1);
        return {
          columns,
          rows: taken.slice(0, MOST_ROWS),
          hasMore: taken.length > MOST_ROWS || bytesIn(taken) > MOST_BYTES,
        };
      } catch (error) {
        if (error instanceof AskError) return { fault: describe(error) };
        throw error;
      }
    },
  };
}

async function* released(rows: AsyncIterable<Row>, release: () => void): AsyncGenerator<Row> {
  try {
    yield* rows;
  } finally {
    release();
  }
}

/** Ends an answer that somebody has left, be it before its first row: what is not begun cannot be ended. */
export async function leave(rows: AsyncIterable<Row>): Promise<void> {
  await take(rows, 1);
}

function bytesIn(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + sizeOf(Object.values(row)), 0);
}

async function take(rows: AsyncIterable<Row>, most: number): Promise<Row[]> {
  const taken: Row[] = [];
  let bytes = 0;
  for await (const row of rows) {
    taken.push(row);
    bytes += bytesIn([row]);
    if (taken.length === most || bytes > MOST_BYTES) break;
  }
  return taken;
}

function describe({ code, message }: AskError): string {
  if (code === 'refused') return `SQL: ${message}`;
  if (code === 'time_limit')
    return `The question was ${message}. Ask for less, or use "carbon-mirror query" with a longer limit.`;
  return `The question was stopped: ${message}.`;
}
