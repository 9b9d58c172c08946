import { isUnknown } from '../../query/answer/caveat.js';
import { serializeAnswers } from '../../query/answer/serialize.js';
import type { List } from '../../query/lists/list-type.js';
import { MIRRORED } from '../../query/lists/list-definitions.js';
import { parseListRequest } from '../../query/lists/parse-request.js';
import { readList } from '../../query/lists/read-list.js';
import { type NamedObject, readOrganizationNames } from '../../query/names.js';
import type { Reader } from '../../store/contract/reader.js';
import { defineCommand } from '../define-command.js';
import { createUsageError } from '../command-error.js';
import { findOrganizationId } from '../find-rows.js';
import { streamStdout } from '../io.js';
import { adviseOnUnknown, printListAnswer } from '../lists/print-list-answer.js';
import { assertKnown, printAnswerNotes } from '../output/answer.js';
import { toJson } from '../output/output-formats.js';
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
    await reader.inSnapshot(async snapshot => {
      const answers = [];
      for (const list of MIRRORED.filter(({ name }) => RESOURCES.includes(name)))
        answers.push({ name: list.name, list, answer: await readListAt(snapshot, list, organizationId, at) });
      assertKnown(
        answers.map(({ answer }) => answer),
        adviseOnUnknown(answers, context.io.now()),
      );
      if (context.format === 'json') {
        const header = { organization_id: organizationId, at };
        return await streamStdout(context.io, serializeAnswers(header, answers, toJson));
      }
      for (const { name, answer } of answers) {
        if (answer.caveats.some(isUnknown)) printAnswerNotes(context.io, answer, name);
        else await printListAnswer(context, answer, name);
      }
    });
  },
});

/** Reads all rows of an organization's list as they were at the instant `at`. */
async function readListAt(reader: Reader, list: List, organizationId: string, at: string) {
  const request = await parseListRequest(reader, list, {
    getText: filter => (filter === 'organization_id' ? organizationId : null),
    at,
    now: Date.parse(at),
  });
  if ('fault' in request) throw createUsageError(request.fault);
  return await readList(reader, request, { kind: 'all' });
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
