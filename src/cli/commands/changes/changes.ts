import { type Command, Option } from 'commander';
import type { Reader } from '../../../engines/contract/reader.js';
import {
  CHANGE_COLUMNS,
  type ChangeRow,
  type ChangesAsked,
  readChanges,
  readRestated,
  readTold,
} from '../../../query/past/changes.js';
import { readOpenings } from '../../../query/past/balance.js';
import { ENTRY_OF } from '../../../resources/resources.js';
import { examples } from '../../command.js';
import { CommandFault, EXIT } from '../../exit.js';
import { addFormats, type FormatOptions, formatOf, isCsv } from '../../formats.js';
import { aDate, readSpan, readYear } from '../../instant.js';
import { emit, type Io, print, say } from '../../io.js';
import { organizationOrAll } from '../../named/in-mirror.js';
import { jsonText, writeRows } from '../../output/output.js';
import { findPlace } from '../../place/find-place.js';
import { reading } from '../../place/place.js';
import { OF_ORGANIZATION } from '../../named/how-named.js';
import { readNumber } from '../../words.js';
import { type Followed, followChanges } from './follow.js';
import { Sums } from '../../../text/change-sums.js';
import { type Change, lineOf, parseChange, type Said } from '../../../text/change.js';

interface Options extends FormatOptions {
  readonly since?: string;
  readonly until?: string;
  readonly organization?: string;
  readonly resource?: string;
  readonly follow?: boolean;
  readonly after?: string;
  readonly restated?: string;
}

/** A write costs as much as to make several lines. */
const LINES_AT_ONCE = 200;

export function define(program: Command, io: Io): void {
  const command = program
    .command('changes')
    .description('Show what was added, changed or removed, a line a change, and what found it')
    .option('--since <instant>', `what was learnt from then on: the beginning of ${aDate(io)}`)
    .option('--until <instant>', 'what was learnt by then: the end of what is said in the same way')
    .option('--organization <name>', OF_ORGANIZATION)
    .addOption(
      new Option('--resource <name>', 'one of them only').choices(['installation', ...Object.keys(ENTRY_OF)]),
    )
    .addOption(
      new Option('--follow', 'print a JSON line a change as it is committed, until it is stopped').conflicts([
        'since',
        'until',
        'csv',
        'verbatim',
        'excel',
      ]),
    )
    .option('--after <number>', 'with --follow: begin after this number; without it, with what comes next')
    .addOption(
      new Option(
        '--restated <year>',
        'only what the registry changed or took back of that year after it was over',
      ).conflicts('follow'),
    )
    .action(async (options: Options) => {
      demandTogether(options);
      const place = findPlace(io);
      await reading(place, reader => show(io, { reader, watch: place.engine.watchChanges }, options));
    });
  addFormats(command, 'print them as JSON, each with its row before and after', 'print them as CSV');
  examples(command, [
    'carbon-mirror changes --since yesterday',
    'carbon-mirror changes --since 24h --resource retirements --csv',
    'carbon-mirror changes --follow --after 1200',
    'carbon-mirror changes --restated 2025',
  ]);
}

function demandTogether({ follow, after }: Options): void {
  if (after !== undefined && !follow) throw new CommandFault(EXIT.usage, '--after goes with --follow only.');
}

function askedIn(io: Io, { resource, since, until }: Options, organizationId: string | null): ChangesAsked {
  const asked = {
    organizationId,
    resource: resource ?? null,
    since: since === undefined ? null : readSpan(since, io.now()).from,
    until: until === undefined ? null : readSpan(until, io.now()).to,
  };
  if (asked.since !== null && asked.until !== null && asked.since > asked.until)
    throw new CommandFault(EXIT.usage, `--until: expected ${asked.since} or later, got ${asked.until}.`);
  sayPeriod(io, asked);
  return asked;
}

function sayPeriod(io: Io, { since, until }: ChangesAsked): void {
  if (since !== null) say(io, `Learnt from ${since} ${until === null ? 'on' : `to ${until}`}.`);
  else if (until !== null) say(io, `Learnt up to ${until}.`);
}

async function show(io: Io, followed: Followed, options: Options): Promise<void> {
  const { reader } = followed;
  const asked = askedIn(io, options, await organizationOrAll(reader, options.organization));
  if (options.follow) {
    const after = options.after === undefined ? null : readNumber('the change', options.after);
    return await followChanges(io, followed, asked, after);
  }
  const restated =
    options.restated === undefined ? null : readRestated(reader, asked, readYear(options.restated));
  if (!options.json && !isCsv(options)) {
    return await showLines(io, reader, restated === null ? readTold(reader, asked) : parsed(restated));
  }
  const rows = restated === null ? readChanges(reader, asked) : eachOf(restated);
  if (options.json) return await showJson(io, rows);
  await writeRows(io, formatOf(options), CHANGE_COLUMNS, rows, { none: NONE });
}

async function* parsed(groups: AsyncIterable<readonly ChangeRow[]>): AsyncGenerator<readonly Change[]> {
  for await (const group of groups) yield group.map(parseChange);
}

async function* eachOf<Row>(groups: AsyncIterable<readonly Row[]>): AsyncGenerator<Row> {
  for await (const group of groups) yield* group;
}

const NONE = 'Nothing was seen to change.';

async function showJson(io: Io, rows: AsyncIterable<ChangeRow>): Promise<void> {
  let count = 0;
  let text = '';
  for await (const row of rows) {
    text += `${count === 0 ? '[' : ','}\n${jsonText(parseChange(row))}`;
    count += 1;
    if (count % LINES_AT_ONCE !== 0) continue;
    await emit(io, text);
    text = '';
  }
  await emit(io, `${text}${count === 0 ? '[]\n' : '\n]\n'}`);
  if (count === 0) say(io, NONE);
}

/** Under the day on which they were learnt, in UTC. */
async function showLines(io: Io, reader: Reader, groups: AsyncIterable<readonly Said[]>): Promise<void> {
  const sums = new Sums(await readOpenings(reader));
  let shown = '';
  for await (const group of groups) {
    const lines: string[] = [];
    for (const change of group) {
      const day = change.learnt_at.slice(0, 10);
      if (day !== shown) lines.push(`${day} UTC`);
      shown = day;
      lines.push(lineOf(change));
      sums.add(change);
    }
    await print(io, ...lines);
  }
  await print(io, ...sums.lines());
}
