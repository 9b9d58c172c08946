import { serializeAnswer } from '../../query/answer/serialize.js';
import { answerChanges } from '../../query/history/answer-changes.js';
import {
  CHANGE_COLUMNS,
  CHANGED,
  type ChangeRow,
  type ChangeRangeRequest,
  readBetween,
  readLastNumber,
} from '../../query/history/changes.js';
import {
  type Change,
  formatChangeHeading,
  parseChange,
  describeChange,
  createChangeSums,
} from '../../text/describe-change.js';
import { defineCommand } from '../define-command.js';
import type { CommandContext } from '../context.js';
import { createCheckError, createUsageError } from '../command-error.js';
import { followRows } from '../follow.js';
import { cleanLine, usesColours, streamStdout, writeStdout } from '../io.js';
import { makeBold, colourChange } from '../output/colour.js';
import { findOptionalOrganizationId } from '../find-rows.js';
import { printAnswerNotes } from '../output/answer.js';
import { toJson } from '../output/output-formats.js';
import {
  defineChoice,
  defineFlag,
  definePastDate,
  ORGANIZATION_OPTION,
  defineWholeNumber,
} from '../options.js';
import type { Reader } from '../../store/contract/reader.js';

const NO_CHANGES = 'No changes match these filters.';

export const CHANGES = defineCommand({
  summary: 'Show added, changed and removed rows',
  details: 'Prints one line per change, with the sync that found it.',
  options: {
    since: definePastDate('only changes observed since this date', 'start'),
    until: {
      ...definePastDate(''),
      description: 'only changes observed by the end of this date, given as for --since',
    },
    organization: ORGANIZATION_OPTION,
    resource: defineChoice('name', 'only this resource', CHANGED),
    after: defineWholeNumber(
      '--after',
      'only changes with a higher number; for programs that store the last number they read',
    ),
    follow: defineFlag('print changes as they are observed, until stopped; JSON has a line for each'),
  },
  formats: { json: 'print as JSON, each change with its row before and after', csv: 'print as CSV' },
  examples: [
    'carbon-mirror changes --since yesterday',
    'carbon-mirror changes --since 24h --resource retirements --csv',
    'carbon-mirror changes --after 1200 --json',
    'carbon-mirror changes --follow',
  ],
  run: async (context, { since, until, organization, resource, after, follow }) => {
    const reader = await context.openReader();
    const request = {
      organizationId: await findOptionalOrganizationId(reader, organization),
      resource: resource ?? null,
      since: since?.since ?? null,
      until: until?.until ?? null,
    };
    if (follow) return await followChanges(context, reader, request, after);
    printPeriod(context, request);
    if (after !== undefined) await readNewestChangeNumber(reader, after);
    const answer = await answerChanges(reader, request, after ?? null);
    const { rows, ...notes } = answer;
    if (context.format === 'csv') {
      const shape = { tableColumns: [], fileColumns: CHANGE_COLUMNS, total: null, emptyMessage: NO_CHANGES };
      return await context.printAnswer(answer, shape);
    }
    const text =
      context.format === 'json'
        ? serializeAnswer(parseChangesOrNotify(rows, context), notes, toJson)
        : formatLines(context.io, rows);
    await streamStdout(context.io, text);
    printAnswerNotes(context.io, notes);
  },
});

/** Returns the number of the newest change. Throws if it is below `after`, for example because the mirror was rebuilt. */
async function readNewestChangeNumber(reader: Reader, after: number): Promise<number> {
  const newest = await readLastNumber(reader);
  if (newest >= after) return newest;
  throw createCheckError(
    `The newest change has number ${newest}, less than ${after}: this is another mirror, or it was rebuilt.`,
    'Start over with an empty copy and --after 0.',
  );
}

/** Prints changes as they are observed, until interrupted. Begins after the change number `after`, or else after the newest change. */
async function followChanges(
  context: CommandContext,
  reader: Reader,
  request: ChangeRangeRequest,
  after: number | undefined,
): Promise<void> {
  const { io, format } = context;
  if (request.since !== null || request.until !== null)
    throw createUsageError('--follow does not accept --since or --until.', 'Use --after with a number.');
  if (format === 'csv') throw createUsageError('--follow does not accept --csv.', 'Use --json.');
  const signal = io.createInterruptSignal();
  const newest = await readNewestChangeNumber(reader, after ?? 0);
  let lastNumber = after ?? newest;
  context.printNotice(`Waiting for changes after number ${lastNumber}. Press Ctrl-C to stop.`);
  const rows = followRows({
    signal,
    readNext: async () => {
      const [from, to] = [lastNumber, await readNewestChangeNumber(reader, lastNumber)];
      lastNumber = Math.min(to, from + FOLLOWED_NUMBERS);
      const changes: ChangeRow[] = [];
      for await (const change of readBetween(reader, request, from, lastNumber)) changes.push(change);
      return changes;
    },
  });
  if (format !== 'json') for await (const line of formatLines(io, rows)) await writeStdout(io, line);
  else for await (const row of rows) await writeStdout(io, `${toJson(parseChange(row))}\n`);
}

/** How many numbers are read at once while changes are followed. */
const FOLLOWED_NUMBERS = 4_000;

/** Prints the requested period on stderr. Throws a usage error if the period ends before it starts. */
function printPeriod({ printNotice }: CommandContext, { since, until }: ChangeRangeRequest): void {
  if (since !== null && until !== null && since > until)
    throw createUsageError(`--until: expected ${since} or later, got ${until}.`);
  if (since !== null) printNotice(`Observed from ${since} ${until === null ? 'on' : `to ${until}`}.`);
  else if (until !== null) printNotice(`Observed up to ${until}.`);
}

/** Parses database rows into changes. If there are no rows, prints that no changes match the filters. */
async function* parseChangesOrNotify(
  rows: AsyncIterable<ChangeRow>,
  { printNotice }: CommandContext,
): AsyncGenerator<Change> {
  let isEmpty = true;
  for await (const row of rows) {
    yield parseChange(row);
    isEmpty = false;
  }
  if (isEmpty) printNotice(NO_CHANGES);
}

const SIGNS = { added: '+', changed: '~', removed: '-' } as const;

/**
 * Formats changes as lines of text, with a heading for each day and each sync. The last lines are the number of changes, and the tonnes
 * gained and lost in each list.
 */
async function* formatLines(
  io: CommandContext['io'],
  rows: AsyncIterable<ChangeRow>,
): AsyncGenerator<string> {
  const sums = createChangeSums();
  let lastDay = '';
  let lastHeading = '';
  for await (const row of rows) {
    const change = parseChange(row);
    const day = `${change.observed_at.slice(0, 10)} UTC`;
    if (day !== lastDay) yield `${usesColours(io) ? makeBold(day) : day}\n`;
    const heading = cleanLine(formatChangeHeading(change));
    if (heading !== lastHeading || day !== lastDay) yield `${heading}\n`;
    lastDay = day;
    lastHeading = heading;
    const sign = SIGNS[change.change];
    yield `  ${usesColours(io) ? colourChange(change.change, sign) : sign} ${cleanLine(describeChange(change))}\n`;
    sums.addChange(change);
  }
  for (const line of sums.formatLines()) yield `${cleanLine(line)}\n`;
}
