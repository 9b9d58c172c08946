import type { Command } from 'commander';
import type { Sqlite } from '../database/open.js';
import { examples } from './command.js';
import { type Io, say } from './io.js';
import { OF_ORGANIZATION } from './lists.js';
import { organizationOrAll } from './named-in-mirror.js';
import { type Row, writeRows } from './output.js';
import { findPlace } from './place.js';

interface AvailableOptions {
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly organization?: string;
}

const COLUMNS = [
  'organization_name',
  'project_name',
  'vintage',
  'type',
  'amount',
  'rows_not_summed',
  'freshness',
  'age_seconds',
];

export function define(program: Command, io: Io): void {
  const command = program
    .command('available')
    .description(
      'What can be sold now, in tonnes, by organization, project and vintage, and how fresh that is',
    )
    .option('--organization <name>', OF_ORGANIZATION)
    .option('--json', 'print the rows as JSON')
    .option('--csv', 'print the rows as CSV')
    .action(async (options: AvailableOptions) => {
      const { openReader } = await import('../query/open.js');
      const { readAvailable, readLastKnown } = await import('../query/available.js');
      const db: Sqlite = openReader(findPlace(io));
      const organizationId = organizationOrAll(db, options.organization);
      const rows: Row[] = readAvailable(db, organizationId);
      await writeRows(io, options.json ? 'json' : options.csv ? 'csv' : 'table', COLUMNS, rows);
      for (const { name, freshness, rows: left } of readLastKnown(db, organizationId)) {
        say(
          io,
          `Left out: ${left} rows of ${name}, whose warehouse is ${freshness}. See last_known_credits.`,
        );
      }
      db.close();
    });
  examples(command, ['carbon-mirror available', 'carbon-mirror available --csv > available.csv']);
}
