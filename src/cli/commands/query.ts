import { SqlQueryError, SAFE_ROLE_ADVICE } from '../../store/contract/sql-query.js';
import type { Relation } from '../../store/contract/describe-schema.js';
import { suggestNames } from '../../query/sql-names.js';
import { defineCommand, ROW_FORMATS } from '../define-command.js';
import { EXIT } from '../exit.js';
import { createCheckError, CommandError, throwIfInterrupted, createUsageError } from '../command-error.js';
import type { Io } from '../io.js';
import { makeRequired, withDefault, defineText, defineParsedText } from '../options.js';

/** Nobody types a longer statement: standard input was probably redirected from the wrong file. */
const MAX_CHARACTERS = 1_000_000;

export const QUERY = defineCommand({
  summary: 'Run one read-only SQL statement',
  details: 'The inbox tables are inbox.deliveries and inbox.jobs. "carbon-mirror schema" lists all tables.',
  args: {
    sql: makeRequired(
      defineText('sql', 'one SELECT, WITH, VALUES or EXPLAIN statement, or - to read it from standard input'),
    ),
  },
  options: {
    timeLimit: withDefault(
      defineParsedText('seconds', 'stop the query after this many seconds', parseSeconds),
      '30',
    ),
  },
  formats: ROW_FORMATS,
  examples: [
    'carbon-mirror query "select project_name, vintage, amount_ex_post from available_credits" --csv > available.csv',
    'carbon-mirror query - < question.sql',
    'carbon-mirror query "select event, count(*) from inbox.deliveries group by event" --json',
  ],
  run: async ({ io, requireMirror, printRows }, { sql: argument, timeLimit }) => {
    const sql = await readStatement(io, argument);
    const signal = io.createInterruptSignal();
    try {
      const answer = await requireMirror().engine.runSqlQuery({ sql, timeLimitMs: timeLimit * 1000, signal });
      await printRows(answer.columns, answer.rows);
    } catch (error) {
      throwIfInterrupted(signal);
      throw error instanceof SqlQueryError
        ? createQueryError(error, requireMirror().engine.describeSchema(), sql)
        : error;
    }
  },
});

/** Returns the SQL statement from the command line, or from standard input for `-`. */
async function readStatement(io: Io, argument: string): Promise<string> {
  if (argument !== '-') return argument;
  let sql = '';
  for await (const chunk of io.stdin.setEncoding('utf8')) {
    sql += String(chunk);
    if (sql.length > MAX_CHARACTERS) throw createUsageError('The statement is too long.');
  }
  return sql;
}

/** Converts an SQL error to an error with advice for the user. */
function createQueryError(error: SqlQueryError, schema: readonly Relation[], query: string): Error {
  const { code, message } = error;
  // `explainError` describes a damaged database.
  if (code === 'damaged') return error;
  if (code === 'ended') return new CommandError(EXIT.unexpected, message);
  if (code === 'too_large')
    return new CommandError(
      EXIT.unexpected,
      `The query was stopped: ${message}.`,
      'Select fewer columns, shorten texts with substr(), or query a snapshot with another tool.',
    );
  if (code === 'unsafe_role') return createUsageError(message, SAFE_ROLE_ADVICE);
  if (code === 'unknown_name') {
    const suggestion = suggestNames(message, schema, query);
    return createUsageError(`SQL: ${message}`, [...(suggestion === null ? [] : [suggestion]), SCHEMA_ADVICE]);
  }
  if (code in ADVICE) return createUsageError(`SQL: ${message}`, ADVICE[code]);
  return createCheckError(
    `The query was ${message}.`,
    'Narrow the query (LIMIT, or WHERE on an indexed column), or raise --time-limit.',
  );
}

const ADVICE: Readonly<Record<string, readonly string[]>> = {
  refused: [],
  in_brackets: ['SQLite does not allow brackets around a whole statement: remove them.'],
};

const SCHEMA_ADVICE =
  'List the tables with "carbon-mirror schema", and the columns of one with "carbon-mirror schema NAME".';

/** A week. A timer of Node can wait at most 24 days. */
const MAX_SECONDS = 7 * 24 * 3600;

/** Parses the seconds of `--time-limit`. Throws if the value is out of range. */
function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds;
  throw createUsageError(
    `--time-limit: expected a number of seconds above 0 and at most ${MAX_SECONDS}, got "${text}".`,
  );
}
