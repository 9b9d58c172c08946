import {
  CHANGE_COLUMNS,
  CHANGED,
  type ChangeRow,
  type ChangesAsked,
  readBetween,
  readChanges,
  readLastNumber,
} from '../../query/history/changes.js';
import { type Change, formatChangeHeading, parseChange, describeChange } from '../../text/change.js';
import { createChangeSums } from '../../text/change-sums.js';
import { defineCommand } from '../command.js';
import type { CommandContext } from '../context.js';
import { createCheckError, createUsageError } from '../exit.js';
import { cleanLine, usesColours, streamStdout } from '../io.js';
import { bold, paintChange } from '../output/colour.js';
import { findOptionalOrganizationId } from '../find/find-rows.js';
import { serializeJson } from '../output/formats.js';
import { defineChoice, definePastDate, ORGANIZATION_OPTION, defineWholeNumber } from '../options.js';
import type { Reader } from '../../store/contract/reader.js';

const NONE = 'No changes match these filters.';

export const CHANGES = defineCommand({
  summary: 'Show added, changed and removed rows',
  details: 'Prints one line per change, with the read that found it.',
  options: {
    since: definePastDate('only changes observed since the start of'),
    until: {
      ...definePastDate(''),
      description: 'only changes observed by the end of a date in the same form',
    },
    organization: ORGANIZATION_OPTION,
    resource: defineChoice('name', 'only this resource', CHANGED),
    after: defineWholeNumber(
      '--after',
      'only changes after this number; for programs that store the last number they read',
    ),
  },
  formats: { json: 'print as JSON, each change with its row before and after', csv: 'print as CSV' },
  examples: [
    'carbon-mirror changes --since yesterday',
    'carbon-mirror changes --since 24h --resource retirements --csv',
    'carbon-mirror changes --after 1200 --json',
  ],
  run: async (context, { since, until, organization, resource, after }) => {
    const reader = await context.openReader();
    const asked = {
      organizationId: await findOptionalOrganizationId(reader, organization),
      resource: resource ?? null,
      since: since?.since ?? null,
      until: until?.until ?? null,
    };
    sayPeriod(context, asked);
    const rows =
      after === undefined
        ? readChanges(reader, asked)
        : readBetween(reader, asked, after, await readLastFrom(reader, after));
    if (context.format === 'csv') await context.printRows(CHANGE_COLUMNS, rows, { emptyMessage: NONE });
    else
      await streamStdout(
        context.io,
        context.format === 'json' ? serializeJson(parsed(rows, context)) : linesOf(context.io, rows),
      );
  },
});

/** The newest number; a lower one than was seen is of other changes. */
async function readLastFrom(reader: Reader, seen: number): Promise<number> {
  const last = await readLastNumber(reader);
  if (last >= seen) return last;
  throw createCheckError(
    `The newest change has number ${last}, less than ${seen}: this is another mirror, or it was rebuilt.`,
    'Start over with an empty copy and --after 0.',
  );
}

function sayPeriod({ printNotice }: CommandContext, { since, until }: ChangesAsked): void {
  if (since !== null && until !== null && since > until)
    throw createUsageError(`--until: expected ${since} or later, got ${until}.`);
  if (since !== null) printNotice(`Observed from ${since} ${until === null ? 'on' : `to ${until}`}.`);
  else if (until !== null) printNotice(`Observed up to ${until}.`);
}

async function* parsed(
  rows: AsyncIterable<ChangeRow>,
  { printNotice }: CommandContext,
): AsyncGenerator<Change> {
  let isAny = false;
  for await (const row of rows) {
    yield parseChange(row);
    isAny = true;
  }
  if (!isAny) printNotice(NONE);
}

const SIGNS = { added: '+', changed: '~', removed: '-' } as const;

/** Under the day on which they were observed, in UTC, and the sync that found them; the sums at the end. */
async function* linesOf(io: CommandContext['io'], rows: AsyncIterable<ChangeRow>): AsyncGenerator<string> {
  const sums = createChangeSums();
  let [shownDay, shownHead] = ['', ''];
  for await (const row of rows) {
    const change = parseChange(row);
    const day = `${change.observed_at.slice(0, 10)} UTC`;
    if (day !== shownDay) yield `${usesColours(io) ? bold(day) : day}\n`;
    const head = cleanLine(formatChangeHeading(change));
    if (head !== shownHead || day !== shownDay) yield `${head}\n`;
    [shownDay, shownHead] = [day, head];
    const sign = SIGNS[change.change];
    yield `  ${usesColours(io) ? paintChange(change.change, sign) : sign} ${cleanLine(describeChange(change))}\n`;
    sums.addChange(change);
  }
  for (const line of sums.formatLines()) yield `${cleanLine(line)}\n`;
}
