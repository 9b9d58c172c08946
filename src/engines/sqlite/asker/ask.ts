import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Asked, AskError, type Question } from '../../contract/asked.js';
import { toRow, uniqueNames } from '../../contract/question.js';
import type { Row } from '../../contract/tables.js';
import { builtBeside } from '../../../package.js';
import { type Files, openBoth } from '../open-both.js';
import type { QueryAnswer, QueryRequest } from './query-process.js';

export interface QueryOptions extends Files, Question {}

const PROGRAM = fileURLToPath(builtBeside(import.meta.url, './query-process.js'));

/** Run SQL in a process of its own that is killed at the time limit, and stream what it answers. */
export async function ask(options: QueryOptions): Promise<Asked> {
  openBoth(options).close();
  const child = fork(PROGRAM, [], { serialization: 'advanced', env: {}, execArgv: [] });
  const limit = { reached: false };
  const timer = setTimeout(() => {
    limit.reached = true;
    child.kill('SIGKILL');
  }, options.timeLimitMs);
  child.once('exit', () => clearTimeout(timer));
  const next = reader(child, () =>
    limit.reached
      ? new AskError('time_limit', `stopped after ${options.timeLimitMs / 1000} s`)
      : new AskError('ended', 'The process that ran the query ended without an answer.'),
  );
  const request: QueryRequest = { ...options, askerPid: process.pid };
  child.send(request, toNobody);
  const head = await next();
  if (!('columns' in head)) throw new AskError('refused', 'it answered no columns');
  return { columns: uniqueNames(head.columns), rows: readRows(child, next, uniqueNames(head.columns)) };
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
      if (child.connected) child.send('more', toNobody);
      if (message.last) return;
    }
  } finally {
    if (child.exitCode === null) child.kill('SIGKILL');
  }
}

/** Its end says what there is to say of a process that hears nothing any more. */
function toNobody(): void {}

/** Messages are kept from the first one on, so that none is lost between two questions. */
function reader(child: ChildProcess, ended: () => Error): () => Promise<QueryAnswer> {
  const messages = on(child, 'message', { close: ['exit'] });
  return async () => {
    const { value, done } = await messages.next();
    if (done) throw ended();
    const [answer]: QueryAnswer[] = value;
    if (answer === undefined) throw ended();
    if ('fault' in answer) throw new AskError(answer.code, answer.fault);
    return answer;
  };
}
