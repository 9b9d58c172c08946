import { describeGapOfList, type Gap, toGapData } from '../../query/answer/gap.js';
import { readOwnCoverageAt } from '../../query/history/as-of.js';
import type { ListSelection, List } from '../../query/lists/list.js';
import { MIRRORED } from '../../query/lists/lists.js';
import { type NamedObject, readOrganizationNames } from '../../query/names.js';
import { streamRows } from '../../query/lists/rows.js';
import type { Reader } from '../../store/contract/reader.js';
import { defineCommand } from '../define-command.js';
import type { CommandContext } from '../context.js';
import { createUsageError } from '../command-error.js';
import { selectKnownLists, findOrganizationId } from '../find/find-rows.js';
import { streamStdout } from '../io.js';
import { serializeJson, toJson, toSnakeKeys } from '../output/output-formats.js';
import { createRunningTotal, describeTotal } from '../output/totals.js';
import { definePastDate, makeRequired, defineText } from '../options.js';

const RESOURCES = ['warehouse', 'inventory', 'retirements'];

export const AS_OF = defineCommand({
  summary: "Show an organization's credits and retirements at a past date",
  details: 'Shows warehouse, inventory and retirements as the mirror had observed them by then.',
  args: { asOf: makeRequired(definePastDate('the date')) },
  options: {
    organization: defineText('name', 'the organization; optional if the mirror knows only one'),
  },
  formats: { json: 'print as JSON' },
  examples: ['carbon-mirror as-of now --organization ID', 'carbon-mirror as-of yesterday --json'],
  run: async (context, { asOf: { until: at }, organization }) => {
    const reader = await context.openReader();
    const organizationId =
      organization === undefined
        ? getOnlyOrganizationId(await readOrganizationNames(reader))
        : await findOrganizationId(reader, organization);
    const lists: ListAsOf[] = [];
    for (const list of MIRRORED.filter(({ name }) => RESOURCES.includes(name)))
      lists.push(await readListAsOf(reader, list, organizationId, at));
    const knownLists = selectKnownLists(context, lists, list => list.resource);
    if (context.format === 'table') {
      for (const list of knownLists) await printListAsOf(context, list, at);
      return;
    }
    await streamStdout(context.io, serializeLists({ organization_id: organizationId, at }, knownLists));
  },
});

/** A list of one organization as of an instant. */
type ListAsOf = Awaited<ReturnType<typeof readListAsOf>>;

/** Reads a list of one organization as it was at an instant. Returns the rows as a stream. */
async function readListAsOf(reader: Reader, list: List, organizationId: string, at: string) {
  const listAsOf = { ...list, ...list.past };
  const { columns, reads } = listAsOf;
  const request: ListSelection = {
    list: { ...listAsOf, reads: [...reads, 'amount_micro'] },
    where: [{ column: 'organization_id', is: organizationId }],
    at,
  };
  const coverage = await readOwnCoverageAt(reader, { organizationId, resource: list.name, at });
  return {
    ...coverage,
    resource: list.name,
    columns: columns.map(({ name }) => name),
    rows: streamRows(reader, request),
  };
}

/** Serializes lists as one JSON object. Yields the text in pieces. */
async function* serializeLists(header: object, lists: readonly ListAsOf[]): AsyncGenerator<string> {
  // The whole JSON may be too long for one string.
  yield toJson(header).slice(0, -1);
  for (const { resource, lastReadAt, gaps, rows } of lists) {
    const data = { last_read: lastReadAt, being_read: findRunningRead(gaps), gaps: gaps.map(toGapData) };
    yield `,\n${toJson(resource)}: ${toJson(toSnakeKeys(data)).slice(0, -1)}, "rows": `;
    yield* serializeJson(rows);
    yield '}';
  }
  yield '}\n';
}

/** Returns the read that ran at the instant. Null if there was none. */
function findRunningRead(gaps: readonly Gap[]) {
  for (const { reason } of gaps)
    if (reason.code === 'read_running') return { from: reason.startedAt, to: reason.endedAt };
  return null;
}

/** Prints the rows of a list at a past instant with their total. First prints why rows may be missing. */
async function printListAsOf(
  { printLines, printRows, printNotice }: CommandContext,
  list: ListAsOf,
  at: string,
): Promise<void> {
  const { columns, rows, resource, lastReadAt, gaps } = list;
  printNotice(...gaps.map(describeGapOfList));
  await printLines(`${resource} as of ${at}${lastReadAt === null ? '' : `, last read ${lastReadAt}`}:`);
  const tally = createRunningTotal();
  await printRows(columns, tally.addEachRow(rows), {
    importantColumns: ['amount_exact'],
    tonneColumns: ['amount_exact'],
  });
  await printLines('', `${resource}: ${describeTotal(tally.getTotal())}`, '');
}

/** Returns the id of the only mirrored organization. Throws unless there is exactly one. */
function getOnlyOrganizationId(organizations: readonly NamedObject[]): string {
  const [only] = organizations;
  if (only !== undefined && organizations.length === 1) return only.id;
  throw createUsageError(
    `--organization is required: the mirror knows ${organizations.length} organizations.`,
    'List their ids with "carbon-mirror organizations list".',
  );
}
