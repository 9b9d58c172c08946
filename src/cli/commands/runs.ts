import { type Command, Option } from 'commander';
import { readRuns, RUN_COLUMNS } from '../../query/reads/runs.js';
import { ENTRY_OF } from '../../resources/resources.js';
import { examples } from '../command.js';
import { addFile, addFormats, type FileOptions, formatOf } from '../formats.js';
import { intoFile } from '../output/into-file.js';
import { type Io, say } from '../io.js';
import { organizationOrAll } from '../named/in-mirror.js';
import { writeRows } from '../output/output.js';
import { findPlace } from '../place/find-place.js';
import { reading } from '../place/place.js';
import { OF_ORGANIZATION } from '../named/how-named.js';
import { readLimit } from '../words.js';

interface ListOptions extends FileOptions {
  readonly organization?: string;
  readonly resource?: string;
  readonly drift?: boolean;
  readonly limit: string;
}

export function define(program: Command, io: Io): void {
  const group = program
    .command('runs')
    .description('Reads of the registry: when, why, how long, and what they changed');
  const command = group
    .command('list')
    .description('List reads, newest first')
    .option('--organization <name>', OF_ORGANIZATION)
    .addOption(
      new Option('--resource <name>', 'of one resource only').choices([
        'installation',
        ...Object.keys(ENTRY_OF),
      ]),
    )
    .option('--drift', 'only those that found what no delivery had announced')
    .addOption(new Option('--limit <n>', 'show at most so many, 0 for all').default('50'))
    .action((options: ListOptions) => intoFile({ io, findPlace }, { command: 'runs list' }, options, list));
  addFile(addFormats(command));
  examples(group, [
    'carbon-mirror runs list --organization ID --resource warehouse',
    'carbon-mirror runs list --drift --limit 0',
  ]);
}

async function list(io: Io, options: ListOptions): Promise<void> {
  const limit = readLimit(options.limit);
  const rows = await reading(
    findPlace(io),
    async reader =>
      await readRuns(reader, {
        organizationId: await organizationOrAll(reader, options.organization),
        resource: options.resource ?? null,
        isDrift: options.drift === true,
        limit: limit || null,
      }),
  );
  await writeRows(io, formatOf(options), RUN_COLUMNS, rows, {
    keep: ['resource', 'drift'],
    none: 'No read is as asked for.',
  });
  if (limit > 0 && rows.length === limit) say(io, `Shown: ${limit}. There may be more: --limit 0 shows all.`);
}
