import type { Command } from 'commander';
import { examples } from './command.js';
import { CommandFault, EXIT } from './exit.js';
import type { Io } from './io.js';
import { writeRows } from './output.js';
import { findPlace } from './place.js';

interface QueryCommandOptions {
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly timeLimit: string;
}

export function define(program: Command, io: Io): void {
  const command = program
    .command('query')
    .description('Ask the mirror one question in SQL; the inbox is there as inbox.deliveries and inbox.jobs')
    .argument('<sql>', 'one SELECT, WITH, VALUES or EXPLAIN statement')
    .option('--json', 'print the rows as JSON')
    .option('--csv', 'print the rows as CSV')
    .option('--time-limit <seconds>', 'stop the query after so long', '30')
    .action(async (sql: string, options: QueryCommandOptions) => {
      const { runQuery } = await import('./run-query.js');
      const { mirrorFile, inboxFile } = findPlace(io);
      const timeLimitMs = readSeconds(options.timeLimit) * 1000;
      const { columns, rows } = await runQuery({ sql, mirrorFile, inboxFile, timeLimitMs });
      await writeRows(io, options.json ? 'json' : options.csv ? 'csv' : 'table', columns, rows);
    });
  examples(command, [
    'carbon-mirror query "select count(*) from retirements"',
    'carbon-mirror query "select project_name, vintage, amount from available_credits" --csv > available.csv',
    'carbon-mirror query "select event, count(*) from inbox.deliveries group by event" --json',
  ]);
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
