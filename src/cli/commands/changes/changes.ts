import { type Command, Option } from 'commander';
import type { Reader } from '../../../engines/contract/reader.js';
import { type ChangesAsked, readChanges } from '../../../query/changes.js';
import { ENTRY_OF } from '../../../resources/resources.js';
import { examples } from '../../command.js';
import { CommandFault, EXIT } from '../../exit.js';
import { addFormats, type FormatOptions, formatOf, isCsv } from '../../formats.js';
import { AN_INSTANT, readInstant } from '../../instant.js';
import { emit, type Io, print } from '../../io.js';
import { organizationOrAll } from '../../named/in-mirror.js';
import { jsonText, writeRows } from '../../output/output.js';
import { findPlace, reading } from '../../place.js';
import { OF_ORGANIZATION } from '../../shown/lists.js';
import { readNumber } from '../../words.js';
import { writeAtom } from './atom.js';
import { followChanges } from './follow.js';
import { Sums } from './sums.js';
import { lineOf, parseChange } from './words.js';

interface Options extends FormatOptions {
  readonly since?: string;
  readonly until?: string;
  readonly organization?: string;
  readonly resource?: string;
  readonly follow?: boolean;
  readonly after?: string;
  readonly atom?: boolean;
  readonly out?: string;
}

const COLUMNS = [
  'number',
  'learnt_at',
  'organization_id',
  'organization_name',
  'resource',
  'id',
  'change',
  'before',
  'after',
  'changed_columns',
  'sync_run_id',
  'trigger',
  'job_id',
  'delivery_id',
] as const;

export function define(program: Command, io: Io): void {
  const command = program
    .command('changes')
    .description('Show what was added, changed or removed, a line a change, and what found it')
    .option('--since <instant>', `what was learnt from then on: ${AN_INSTANT}`)
    .option('--until <instant>', 'what was learnt by then')
    .option('--organization <name>', OF_ORGANIZATION)
    .addOption(
      new Option('--resource <name>', 'one of them only').choices(['installation', ...Object.keys(ENTRY_OF)]),
    )
    .addOption(
      new Option('--follow', 'print a JSON line a change as it is committed, until it is stopped').conflicts([
        'since',
        'until',
        'csv',
        'excel',
        'atom',
      ]),
    )
    .option('--after <number>', 'with --follow: begin after this number; without it, with what comes next')
    .addOption(
      new Option('--atom', 'write an Atom feed of the newest; needs --out').conflicts([
        'json',
        'csv',
        'excel',
      ]),
    )
    .option('--out <file>', 'where --atom writes')
    .action(async (options: Options) => {
      demandTogether(options);
      await reading(findPlace(io), async reader => await show(io, reader, options));
    });
  addFormats(command, 'print them as JSON, each with its row before and after', 'print them as CSV');
  examples(command, [
    'carbon-mirror changes --since yesterday',
    'carbon-mirror changes --since 24h --resource retirements --csv',
    'carbon-mirror changes --follow --after 1200',
    'carbon-mirror changes --organization ID --atom --out changes.atom',
  ]);
}

function demandTogether({ follow, after, atom, out }: Options): void {
  const wrong =
    after !== undefined && !follow
      ? '--after goes with --follow only.'
      : (atom === true) !== (out !== undefined)
        ? '--atom and --out go together.'
        : null;
  if (wrong !== null) throw new CommandFault(EXIT.usage, wrong);
}

async function show(io: Io, reader: Reader, options: Options): Promise<void> {
  const asked = {
    organizationId: await organizationOrAll(reader, options.organization),
    resource: options.resource ?? null,
    since: options.since === undefined ? null : readInstant(options.since, io.now()),
    until: options.until === undefined ? null : readInstant(options.until, io.now()),
  };
  if (options.follow) {
    const after = options.after === undefined ? null : readNumber('the change', options.after);
    return await followChanges(io, reader, asked, after);
  }
  if (options.out !== undefined) return await writeAtom(io, reader, asked, options.out);
  if (options.json) return await showJson(io, reader, asked);
  if (isCsv(options)) {
    return void (await writeRows(io, formatOf(options), COLUMNS, readChanges(reader, asked)));
  }
  return await showLines(io, reader, asked);
}

async function showJson(io: Io, reader: Reader, asked: ChangesAsked): Promise<void> {
  let count = 0;
  for await (const row of readChanges(reader, asked)) {
    await emit(io, `${count === 0 ? '[' : ','}\n${jsonText(parseChange(row))}`);
    count += 1;
  }
  await emit(io, count === 0 ? '[]\n' : '\n]\n');
}

/** Under the day on which they were learnt, in UTC. */
async function showLines(io: Io, reader: Reader, asked: ChangesAsked): Promise<void> {
  const sums = new Sums();
  let shown = '';
  for await (const row of readChanges(reader, asked)) {
    const change = parseChange(row);
    const day = change.learnt_at.slice(0, 10);
    if (day !== shown) await print(io, `${day} UTC`);
    shown = day;
    await print(io, lineOf(change));
    sums.add(change);
  }
  await print(io, ...sums.lines());
}
