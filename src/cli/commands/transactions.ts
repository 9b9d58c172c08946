import { type Command, Option } from 'commander';
import { readTransactions, TRANSACTION_COLUMNS } from '../../query/transactions.js';
import { examples } from '../command.js';
import { findPlace } from '../place/find-place.js';
import { addFile, addFormats, type FileOptions, formatOf } from '../formats.js';
import { intoFile } from '../output/into-file.js';
import { type Io, say } from '../io.js';
import { OF_ORGANIZATION } from '../named/how-named.js';
import { organizationOrAll } from '../named/in-mirror.js';
import { writeRows } from '../output/output.js';
import { reading } from '../place/place.js';
import { readLimit } from '../words.js';

interface ListOptions extends FileOptions {
  readonly organization?: string;
  readonly status?: string;
  readonly limit: string;
}

export function define(program: Command, io: Io): void {
  const group = program
    .command('transactions')
    .description('What webhooks said of transactions: a hint, that nobody has asked the registry about');
  const command = group
    .command('list')
    .description('List what webhooks said of transactions, newest first')
    .option('--organization <name>', OF_ORGANIZATION)
    .option('--status <word>', 'of one status only, such as processed, failed or pending_queue')
    .addOption(new Option('--limit <n>', 'show at most so many, 0 for all').default('50'))
    .action((options: ListOptions) =>
      intoFile({ io, findPlace }, { command: 'transactions list' }, options, list),
    );
  addFile(addFormats(command));
  examples(group, [
    'carbon-mirror transactions list --organization ID --status failed',
    'carbon-mirror transactions list --limit 0 --out transactions.csv',
  ]);
}

async function list(io: Io, options: ListOptions): Promise<void> {
  const limit = readLimit(options.limit);
  const rows = await reading(
    findPlace(io),
    async reader =>
      await readTransactions(reader, {
        organizationId: await organizationOrAll(reader, options.organization),
        status: options.status ?? null,
        limit: limit || null,
      }),
  );
  await writeRows(io, formatOf(options), TRANSACTION_COLUMNS, rows, {
    keep: ['status', 'amount_exact'],
    tonnes: ['amount_exact'],
    none: 'No webhook has told of such a transaction.',
  });
  if (rows.length > 0)
    say(io, 'As webhooks said: "carbon-mirror explain" and the lists say what the registry answered.');
  if (limit > 0 && rows.length === limit) say(io, `Shown: ${limit}. There may be more: --limit 0 shows all.`);
}
