import { EXPORT_COLUMNS, type ExportRow, readCoverage, readExport } from '../../query/certificates.js';
import { countKnown } from '../../query/coverage.js';
import { gapsIn, readKnownAt } from '../../query/history/as-of.js';
import { formatCsvLine } from '../../text/csv.js';
import { defineCommand } from '../command.js';
import type { CommandContext } from '../context.js';
import { createCheckError } from '../exit.js';
import { requireKnownOrganizations, findOptionalOrganizationId } from '../find/find-rows.js';
import { definePastDate, makeRequired, ORGANIZATION_OPTION, defineText } from '../options.js';
import { toJson, toSnakeKeys } from '../output/formats.js';
import { createChecksummedFolder } from '../output/checksummed-folder.js';

const LIST = 'certificates.csv';
const ABOUT = 'export.json';

export const EXPORT = defineCommand({
  summary: 'Copy certificate PDFs into a new folder',
  details:
    'Adds certificates.csv, SHA256SUMS and export.json, which records when it was made, as of when, and how complete it is.',
  args: { folder: makeRequired(defineText('folder', 'a new or empty folder')) },
  options: { organization: ORGANIZATION_OPTION, asOf: definePastDate('as of the end of') },
  formats: { json: 'print what was written as JSON' },
  run: async (context, { folder, organization, asOf }) => {
    const at = asOf?.until ?? null;
    const interrupted = context.io.createInterruptSignal();
    const madeAt = new Date(context.io.now()).toISOString();
    const reader = await context.openReader();
    const organizationId = await findOptionalOrganizationId(reader, organization);
    const all = await readExport(reader, { organizationId, at });
    const { rows, ...trust } =
      at === null
        ? {
            rows: all,
            notKnown: null,
            known: await countKnown(reader),
            coverage: await readCoverage(reader, organizationId),
          }
        : await ofKnown(context, all, { organizationId, at });
    const into = createChecksummedFolder(folder, interrupted);
    const damaged = new Set<string>();
    for (const { file, sha256 } of rows) {
      if (into.has(file) || damaged.has(file)) continue;
      if (!(await into.copy(await context.openPdfs(), file, file, sha256))) damaged.add(file);
    }
    const whole = rows.filter(row => into.has(row.file));
    const certificates = new Set(whole.map(row => row.file)).size;
    const lines = whole.map(row => EXPORT_COLUMNS.map(name => row[name]));
    into.append(LIST, [EXPORT_COLUMNS, ...lines].map(cells => formatCsvLine(cells)).join(''));
    const about = { madeAt, asOf: at ?? madeAt, certificates, damaged: [...damaged], ...trust };
    into.append(ABOUT, `${toJson(toSnakeKeys(about), 2)}\n`);
    into.finish();
    const then = at === null ? '' : ` as observed by ${at}`;
    await context.printResult(
      { folder, at, certificates, damaged: about.damaged },
      `Wrote ${certificates} certificates${then}, ${LIST}, ${ABOUT} and SHA256SUMS to ${folder}.`,
    );
    if (damaged.size === 0) return;
    throw createCheckError(
      `${damaged.size} certificates were left out because their files changed since download: ${[...damaged].slice(0, 5).join(', ')}`,
      'See "carbon-mirror verify".',
    );
  },
});

/** What belongs to organizations whose retirements and certificates were known then, until when each was read, and what was not known, in words. */
async function ofKnown(
  context: CommandContext,
  all: readonly ExportRow[],
  then: { readonly organizationId: string | null; readonly at: string },
) {
  const reader = await context.openReader();
  const notKnown: string[] = [];
  const coverage = [];
  let rows = all;
  for (const resource of ['retirements', 'certificates']) {
    const stood = await readKnownAt(reader, { ...then, resource });
    for (const each of stood) {
      const { organizationId, lastRead } = each;
      notKnown.push(...gapsIn(each).map(gap => `${organizationId}, ${resource}: ${gap}`));
      coverage.push({ organizationId, resource, lastRead });
    }
    const known = requireKnownOrganizations(context, stood, resource);
    rows = rows.filter(row => known.includes(row.organization_id));
  }
  return { rows, notKnown, coverage };
}
