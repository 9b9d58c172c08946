import { gapsIn, readKnownOf } from '../../query/history/as-of.js';
import type { Asked, List } from '../../query/lists/list.js';
import { MIRRORED } from '../../query/lists/lists.js';
import { type Named, readOrganizationNames } from '../../query/names.js';
import { streamRows } from '../../query/lists/read.js';
import type { Reader } from '../../store/contract/reader.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { demandKnown, organizationIn } from '../find/in-mirror.js';
import { writeTexts } from '../io.js';
import { jsonOf, jsonText } from '../output/output.js';
import { createTally, describeTotal } from '../output/totals.js';
import { date, needed, text } from '../options.js';

const RESOURCES = ['warehouse', 'inventory', 'retirements'];

export const AS_OF = command({
  says: 'Show warehouse, inventory and retirements of an organization as the mirror had observed them by then',
  words: { asOf: needed(date('the end of')) },
  options: {
    organization: text('name', 'the organization; may be left out where the mirror knows only one'),
  },
  prints: { json: 'print it as JSON' },
  examples: ['carbon-mirror as-of now --organization ID', 'carbon-mirror as-of yesterday --json'],
  run: async (context, { asOf: { until: at }, organization }) => {
    const reader = await context.reader();
    const organizationId =
      organization === undefined
        ? onlyOne(await readOrganizationNames(reader))
        : await organizationIn(reader, organization);
    const all: Part[] = [];
    for (const list of MIRRORED.filter(each => RESOURCES.includes(each.name)))
      all.push(await readPart(reader, list, organizationId, at));
    const known = demandKnown(context, all, part => part.resource);
    if (context.format === 'table') {
      for (const part of known) await writePart(context, part, at);
      return;
    }
    await writeTexts(context.io, jsonOfParts({ organization_id: organizationId, at }, known));
  },
});

type Part = Awaited<ReturnType<typeof readPart>>;

/** Its rows, and how far they can be trusted. */
async function readPart(reader: Reader, list: List, organizationId: string, at: string) {
  const place = { organizationId, resource: list.name, at };
  const where = [{ column: 'organization_id', is: organizationId }];
  const asked: Asked = { list: { ...list, ...list.past }, where, at };
  const { columns, reads } = asked.list;
  const withMicro = { ...asked, list: { ...asked.list, reads: [...reads, 'amount_micro'] } };
  const known = await readKnownOf(reader, place);
  return { ...known, resource: list.name, columns, rows: streamRows(reader, withMicro) };
}

/** A row at a time: a list may be longer than a text. */
async function* jsonOfParts(asked: object, parts: readonly Part[]): AsyncGenerator<string> {
  yield jsonText(asked).slice(0, -1);
  for (const { resource, lastRead, reading, rows } of parts) {
    const known = jsonText({ last_read: lastRead, being_read: reading }).slice(0, -1);
    yield `,\n${jsonText(resource)}: ${known}, "rows": `;
    yield* jsonOf(rows);
    yield '}';
  }
  yield '}\n';
}

async function writePart(
  { print, rows: write, say }: Context,
  { columns, rows, ...known }: Part,
  at: string,
): Promise<void> {
  const { resource, lastRead } = known;
  for (const gap of gapsIn(known)) say(`${resource}: ${gap}.`);
  await print(`${resource} as of ${at}${lastRead === null ? '' : `, last read ${lastRead}`}:`);
  const tally = createTally();
  await write(columns, tally.count(rows), { keep: ['amount_exact'], tonnes: ['amount_exact'] });
  await print('', `${resource}: ${describeTotal(tally.total())}`, '');
}

function onlyOne(all: readonly Named[]): string {
  const [one] = all;
  if (one !== undefined && all.length === 1) return one.id;
  throw usageFault(
    `Expected --organization ID: the mirror knows ${all.length} organizations.`,
    'See "carbon-mirror organizations list" for their ids.',
  );
}
