import type { Command } from 'commander';
import { AskError } from '../../engines/contract/asked.js';
import { examples } from '../command.js';
import { isDamage } from '../damage.js';
import { CommandFault, EXIT } from '../exit.js';
import { addFormats, type FormatOptions, formatOf } from '../formats.js';
import type { Io } from '../io.js';
import { writeRows } from '../output/output.js';
import { findPlace } from '../place.js';

interface QueryCommandOptions extends FormatOptions {
  readonly timeLimit: string;
}

export function define(program: Command, io: Io): void {
  const command = program
    .command('query')
    .description('Ask the mirror one question in SQL; the inbox is there as inbox.deliveries and inbox.jobs')
    .argument('<sql>', 'one SELECT, WITH, VALUES or EXPLAIN statement')
    .option('--time-limit <seconds>', 'stop the query after so long', '30')
    .action(async (sql: string, options: QueryCommandOptions) => {
      const { engine } = findPlace(io);
      const timeLimitMs = readSeconds(options.timeLimit) * 1000;
      try {
        const { columns, rows } = await engine.ask({ sql, timeLimitMs });
        await writeRows(io, formatOf(options), columns, rows);
      } catch (error) {
        throw error instanceof AskError ? faultOf(error) : error;
      }
    });
  addFormats(command);
  examples(command, [
    'carbon-mirror query "select count(*) from retirements"',
    'carbon-mirror query "select project_name, vintage, amount from available_credits" --csv > available.csv',
    'carbon-mirror query "select event, count(*) from inbox.deliveries group by event" --json',
  ]);
}

/** What the engine says of it, in a person's words; a damaged file is told as everywhere. */
function faultOf(error: AskError): Error {
  const { code, message } = error;
  if (isDamage(message)) return error;
  if (code === 'refused') return new CommandFault(EXIT.usage, `SQL: ${message}`, adviceFor(message));
  if (code === 'ended') return new CommandFault(EXIT.unexpected, message);
  if (code === 'too_large') {
    return new CommandFault(
      EXIT.unexpected,
      `The query was stopped: ${message}.`,
      'Ask for less: fewer columns, a part of a text with substr(), or a snapshot and a tool of your own.',
    );
  }
  return new CommandFault(
    EXIT.checkFailed,
    `The query was ${message}.`,
    'Ask for less (LIMIT, or a WHERE on an indexed column), or give it longer with --time-limit.',
  );
}

function adviceFor(fault: string): readonly string[] {
  return /no such (table|column)|(relation|column) .* does not exist/.test(fault)
    ? ['See "carbon-mirror schema" for the tables and their columns.']
    : [];
}

/** A week; a timer of Node holds no more than 24 days. */
const LONGEST_SECONDS = 7 * 24 * 3600;

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && seconds <= LONGEST_SECONDS) return seconds;
  throw new CommandFault(
    EXIT.usage,
    `--time-limit: expected a number of seconds above 0 and up to ${LONGEST_SECONDS}, got "${text}".`,
  );
}
