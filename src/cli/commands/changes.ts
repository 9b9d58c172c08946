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
import { command } from '../command.js';
import type { Context } from '../context.js';
import { checkFault, usageFault } from '../exit.js';
import { cleanLine, colours, writeTexts } from '../io.js';
import { bold, paintChange } from '../output/colour.js';
import { organizationOrAll } from '../find/in-mirror.js';
import { jsonOf } from '../output/output.js';
import { choice, count, date, ORGANIZATION } from '../options.js';
import type { Reader } from '../../store/contract/reader.js';

const NONE = 'Nothing was seen to change.';

export const CHANGES = command({
  says: 'Show what was added, changed or removed, one line for each change, and the read that found it',
  options: {
    since: date('what was observed from then on: the beginning of'),
    until: { ...date(''), says: 'what was observed by then: the end of a date in one of the same forms' },
    organization: ORGANIZATION,
    resource: choice('name', 'one of them only', CHANGED),
    after: count(
      '--after',
      'after the change of this number: a program that keeps the last one gets each once',
    ),
  },
  prints: { json: 'print them as JSON, each with its row before and after', csv: 'print them as CSV' },
  examples: [
    'carbon-mirror changes --since yesterday',
    'carbon-mirror changes --since 24h --resource retirements --csv',
    'carbon-mirror changes --after 1200 --json',
  ],
  run: async (context, { since, until, organization, resource, after }) => {
    const reader = await context.reader();
    const asked = {
      organizationId: await organizationOrAll(reader, organization),
      resource: resource ?? null,
      since: since?.since ?? null,
      until: until?.until ?? null,
    };
    sayPeriod(context, asked);
    const rows =
      after === undefined
        ? readChanges(reader, asked)
        : readBetween(reader, asked, after, await readLastFrom(reader, after));
    if (context.format === 'csv') await context.rows(CHANGE_COLUMNS, rows, { none: NONE });
    else
      await writeTexts(
        context.io,
        context.format === 'json' ? jsonOf(parsed(rows, context)) : linesOf(context.io, rows),
      );
  },
});

/** The newest number; a lower one than was seen is of other changes. */
async function readLastFrom(reader: Reader, seen: number): Promise<number> {
  const last = await readLastNumber(reader);
  if (last >= seen) return last;
  throw checkFault(
    `The newest change of this mirror has number ${last}, less than ${seen}: this is another mirror, or it was made anew.`,
    'Begin again with an empty copy and --after 0.',
  );
}

function sayPeriod({ say }: Context, { since, until }: ChangesAsked): void {
  if (since !== null && until !== null && since > until)
    throw usageFault(`--until: expected ${since} or later, got ${until}.`);
  if (since !== null) say(`Observed from ${since} ${until === null ? 'on' : `to ${until}`}.`);
  else if (until !== null) say(`Observed up to ${until}.`);
}

async function* parsed(rows: AsyncIterable<ChangeRow>, { say }: Context): AsyncGenerator<Change> {
  let isAny = false;
  for await (const row of rows) {
    yield parseChange(row);
    isAny = true;
  }
  if (!isAny) say(NONE);
}

const SIGNS = { added: '+', changed: '~', removed: '-' } as const;

/** Under the day on which they were observed, in UTC, and the sync that found them; the sums at the end. */
async function* linesOf(io: Context['io'], rows: AsyncIterable<ChangeRow>): AsyncGenerator<string> {
  const sums = createChangeSums();
  let [shownDay, shownHead] = ['', ''];
  for await (const row of rows) {
    const change = parseChange(row);
    const day = `${change.observed_at.slice(0, 10)} UTC`;
    if (day !== shownDay) yield `${colours(io) ? bold(day) : day}\n`;
    const head = cleanLine(formatChangeHeading(change));
    if (head !== shownHead || day !== shownDay) yield `${head}\n`;
    [shownDay, shownHead] = [day, head];
    const sign = SIGNS[change.change];
    yield `  ${colours(io) ? paintChange(change.change, sign) : sign} ${cleanLine(describeChange(change))}\n`;
    sums.add(change);
  }
  for (const line of sums.lines()) yield `${cleanLine(line)}\n`;
}
