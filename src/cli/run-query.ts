import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Files } from '../engines/sqlite/open-both.js';
import { isDamage } from './damage.js';
import { CommandFault, EXIT } from './exit.js';
import type { Value } from '../query/statement-guard.js';
import type { Row } from './output.js';
import { openReader } from './place.js';
import type { QueryAnswer, QueryRequest } from './query-process.js';

export interface QueryOptions extends Files {
  readonly sql: string;
  readonly timeLimitMs: number;
}

export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<Row>;
}

const PROGRAM = fileURLToPath(new URL('./query-process.js', import.meta.url));

/** Run SQL in a process of its own that is killed at the time limit, and stream what it answers. */
export async function runQuery(options: QueryOptions): Promise<QueryResult> {
  (await openReader(options)).close();
  const child = fork(PROGRAM, [], { serialization: 'advanced', env: {}, execArgv: [] });
  const limit = { reached: false };
  const timer = setTimeout(() => {
    limit.reached = true;
    child.kill('SIGKILL');
  }, options.timeLimitMs);
  child.once('exit', () => clearTimeout(timer));
  const next = reader(child, () =>
    limit.reached
      ? new CommandFault(
          EXIT.checkFailed,
          `The query was stopped after ${options.timeLimitMs / 1000} s.`,
          'Ask for less (LIMIT, or a WHERE on an indexed column), or give it longer with --time-limit.',
        )
      : new CommandFault(EXIT.unexpected, 'The process that ran the query ended without an answer.'),
  );
  const request: QueryRequest = { ...options, askerPid: process.pid };
  child.send(request);
  const head = await next();
  if (!('columns' in head)) throw new CommandFault(EXIT.usage, 'The query answered no columns.');
  return { columns: unique(head.columns), rows: readRows(child, next, unique(head.columns)) };
}

async function* readRows(
  child: ChildProcess,
  next: () => Promise<QueryAnswer>,
  columns: readonly string[],
): AsyncIterable<Row> {
  try {
    for (;;) {
      const message = await next();
      if (!('rows' in message)) return;
      for (const cells of message.rows) yield toRow(columns, cells);
      if (child.connected) child.send('more');
      if (message.last) return;
    }
  } finally {
    if (child.exitCode === null) child.kill('SIGKILL');
  }
}

/** Messages are kept from the first one on, so that none is lost between two questions. */
function reader(child: ChildProcess, ended: () => Error): () => Promise<QueryAnswer> {
  const messages = on(child, 'message', { close: ['exit'] });
  return async () => {
    const { value, done } = await messages.next();
    if (done) throw ended();
    const [answer]: QueryAnswer[] = value;
    if (answer === undefined) throw ended();
    if ('fault' in answer && isDamage(answer.fault)) throw new Error(answer.fault);
    if ('fault' in answer) throw faultOf(answer);
    return answer;
  };
}

function faultOf({ fault, isTooLarge }: { fault: string; isTooLarge: boolean }): CommandFault {
  if (!isTooLarge) return new CommandFault(EXIT.usage, `SQL: ${fault}`, adviceFor(fault));
  return new CommandFault(
    EXIT.unexpected,
    `The query was stopped: ${fault}.`,
    'Ask for less: fewer columns, a part of a text with substr(), or a snapshot and a tool of your own.',
  );
}

function adviceFor(fault: string): readonly string[] {
  return /no such (table|column)/.test(fault)
    ? ['See "carbon-mirror schema" for the tables and their columns.']
    : [];
}

function toRow(columns: readonly string[], cells: readonly Value[]): Row {
  return Object.fromEntries(columns.map((name, index) => [name, cells[index]]));
}

/** Two columns of one name would hide each other in an object. */
function unique(columns: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return columns.map(name => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}:${count}`;
  });
}
