import { gapsIn, readKnownOf } from '../../query/history/as-of.js';
import type { Asked, List } from '../../query/lists/list.js';
import { MIRRORED } from '../../query/lists/lists.js';
import { type Named, readOrganizationNames } from '../../query/names.js';
import { streamRows } from '../../query/lists/read.js';
import type { Reader } from '../../store/contract/reader.js';
import { defineCommand } from '../command.js';
import type { CommandContext } from '../context.js';
import { createUsageError } from '../exit.js';
import { requireKnownLists, findOrganizationId } from '../find/find-rows.js';
import { streamStdout } from '../io.js';
import { serializeJson, toJson } from '../output/formats.js';
import { createRunningTotal, describeTotal } from '../output/totals.js';
import { definePastDate, makeRequired, defineText } from '../options.js';

const RESOURCES = ['warehouse', 'inventory', 'retirements'];

export const AS_OF = defineCommand({
  summary: "Show an organization's credits and retirements at a past date",
  details: 'Shows its warehouse, inventory and retirements as the mirror had observed them by then.',
  args: { asOf: makeRequired(definePastDate('the end of')) },
  options: {
    organization: defineText('name', 'the organization; optional if the mirror knows only one'),
  },
  formats: { json: 'print it as JSON' },
  examples: ['carbon-mirror as-of now --organization ID', 'carbon-mirror as-of yesterday --json'],
  run: async (context, { asOf: { until: at }, organization }) => {
    const reader = await context.openReader();
    const organizationId =
      organization === undefined
        ? onlyOne(await readOrganizationNames(reader))
        : await findOrganizationId(reader, organization);
    const all: Part[] = [];
    for (const list of MIRRORED.filter(each => RESOURCES.includes(each.name)))
      all.push(await readPart(reader, list, organizationId, at));
    const known = requireKnownLists(context, all, part => part.resource);
    if (context.format === 'table') {
      for (const part of known) await writePart(context, part, at);
      return;
    }
    await streamStdout(context.io, jsonOfParts({ organization_id: organizationId, at }, known));
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
  yield toJson(asked).slice(0, -1);
  for (const { resource, lastRead, reading, rows } of parts) {
    const known = toJson({ last_read: lastRead, being_read: reading }).slice(0, -1);
    yield `,\n${toJson(resource)}: ${known}, "rows": `;
    yield* serializeJson(rows);
    yield '}';
  }
  yield '}\n';
}

async function writePart(
  { printLines, printRows, printNotice }: CommandContext,
  { columns, rows, ...known }: Part,
  at: string,
): Promise<void> {
  const { resource, lastRead } = known;
  for (const gap of gapsIn(known)) printNotice(`${resource}: ${gap}.`);
  await printLines(`${resource} as of ${at}${lastRead === null ? '' : `, last read ${lastRead}`}:`);
  const tally = createRunningTotal();
  await printRows(columns, tally.addPassing(rows), {
    importantColumns: ['amount_exact'],
    tonneColumns: ['amount_exact'],
  });
  await printLines('', `${resource}: ${describeTotal(tally.total())}`, '');
}

function onlyOne(all: readonly Named[]): string {
  const [one] = all;
  if (one !== undefined && all.length === 1) return one.id;
  throw createUsageError(
    `--organization is required: the mirror knows ${all.length} organizations.`,
    'List their ids with "carbon-mirror organizations list".',
  );
}
