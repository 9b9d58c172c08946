import { type ChildProcess, fork, type ForkOptions, type StdioOptions } from 'node:child_process';
import { on } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type StatementRows,
  SqlQueryError,
  createAbortError,
  type SqlQuery,
  toRow,
  makeNamesUnique,
} from '../../contract/sql-query.js';
import type { Row } from '../../contract/tables.js';
import { resolveBuiltFile } from '../../../package.js';
import { type DatabaseFiles, openReadOnly } from '../open-read-only.js';
import type { QueryMessage, QueryRequest } from './query-process.js';

export interface QueryOptions extends DatabaseFiles, SqlQuery {}

const PROGRAM = fileURLToPath(resolveBuiltFile(import.meta.url, './query-process.js'));

/** Output is ignored: results come as messages, and Node prints pages of addresses if memory runs out. */
const STDIO: StdioOptions = ['ignore', 'ignore', 'ignore', 'ipc'];
const SHELL = '/bin/sh';
const LIMITED_COMMAND = 'ulimit -c 0; ulimit -f 2097152; ulimit -d "$1"; shift; exec "$@"';
const [MAJOR = ''] = process.versions.node.split('.');
/** The data memory of a new Node process with a thread. Since Node 24 most of it is only reserved. */
export const INITIAL_NODE_MB = Number(MAJOR) < 24 ? 100 : 1100;
/** The memory for the query itself. Together with the calling process it stays below 512 MB. */
const MEMORY_MB = 300;

/** Creates options to start the child process through a shell that limits its memory and temporary files, if there is a shell. */
function createForkOptions(): ForkOptions {
  if (!existsSync(SHELL)) return { execArgv: [] };
  const kilobytes = String((INITIAL_NODE_MB + MEMORY_MB) * 1024);
  return { execPath: SHELL, execArgv: ['-c', LIMITED_COMMAND, SHELL, kilobytes, process.execPath] };
}

/** Runs a user's SQL in a child process and streams its rows. Kills the process at the time limit, or when the signal aborts. */
export async function runSqlQuery(options: QueryOptions): Promise<StatementRows> {
  if (options.signal?.aborted === true) throw createAbortError();
  openReadOnly(options).close();
  const child = fork(PROGRAM, [], {
    serialization: 'advanced',
    env: {},
    stdio: STDIO,
    ...createForkOptions(),
  });
  const limit = { reached: false };
  const timer = setTimeout(() => {
    limit.reached = true;
    child.kill('SIGKILL');
  }, options.timeLimitMs);
  const onAbort = () => void child.kill('SIGKILL');
  options.signal?.addEventListener('abort', onAbort, { once: true });
  child.once('exit', () => {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
  });
  const readMessage = createMessageReader(child, () => {
    if (options.signal?.aborted === true) return createAbortError();
    return limit.reached
      ? new SqlQueryError('time_limit', `stopped after ${options.timeLimitMs / 1000} s`)
      : toExitError(child);
  });
  const { mirrorFile, inboxFile, sql, timeLimitMs } = options;
  const request: QueryRequest = {
    mirrorFile,
    inboxFile,
    sql,
    timeLimitMs,
    parentPid: process.pid,
    memoryMb: MEMORY_MB,
  };
  child.send(request, ignoreSendError);
  const head = await readMessage();
  if (!('columns' in head)) throw new SqlQueryError('refused', 'it answered no columns');
  return {
    columns: makeNamesUnique(head.columns),
    rows: readRows(child, readMessage, makeNamesUnique(head.columns)),
  };
}

/** Returns the error to throw if the child process has ended without sending an error. */
function toExitError({ signalCode }: ChildProcess): SqlQueryError {
  return signalCode === null
    ? new SqlQueryError('ended', 'The process that ran the query ended without an answer.')
    : new SqlQueryError(
        'too_large',
        `it needed more than ${MEMORY_MB} MB of memory, or was ended from outside`,
      );
}

/** Yields the rows that the child process sends. Kills the process when the caller stops reading. */
async function* readRows(
  child: ChildProcess,
  readMessage: () => Promise<QueryMessage>,
  columns: readonly string[],
): AsyncIterable<Row> {
  try {
    for (;;) {
      const message = await readMessage();
      if (!('rows' in message)) return;
      for (const cells of message.rows) yield toRow(columns, cells);
      if (child.connected) child.send('more', ignoreSendError);
      if (message.last) return;
    }
  } finally {
    if (child.exitCode === null) child.kill('SIGKILL');
  }
}

/** Ignores failed sends to a process that has ended, because its exit is reported. */
function ignoreSendError(): void {}

/**
 * Creates a function that returns the next message of the child process. Messages that arrive between two calls are queued. The function
 * throws if the message reports an error. If the process has ended, it throws the error that `createEndError` returns.
 */
function createMessageReader(child: ChildProcess, createEndError: () => Error): () => Promise<QueryMessage> {
  const messages = on(child, 'message', { close: ['exit'] });
  return async () => {
    const { value, done } = await messages.next();
    if (done) throw createEndError();
    const [answer]: QueryMessage[] = value;
    if (answer === undefined) throw createEndError();
    if ('fault' in answer) throw new SqlQueryError(answer.code, answer.fault);
    return answer;
  };
}
