import { EXPORT_COLUMNS, type ExportRow, readCoverage, readExport } from '../../query/certificates.js';
import { countKnown } from '../../query/coverage.js';
import { type Gap, toGapData } from '../../query/answer/gap.js';
import { readCoverageAt } from '../../query/history/as-of.js';
import { formatCsvLine } from '../../text/csv.js';
import { defineCommand } from '../define-command.js';
import type { CommandContext } from '../context.js';
import { createCheckError } from '../command-error.js';
import { selectKnownOrganizationIds, findOptionalOrganizationId } from '../find/find-rows.js';
import { definePastDate, makeRequired, ORGANIZATION_OPTION, defineText } from '../options.js';
import { toJson, toSnakeKeys } from '../output/output-formats.js';
import { createExportFolder } from '../output/export-folder.js';

const LIST_FILE = 'certificates.csv';
const DESCRIPTION_FILE = 'export.json';

export const EXPORT = defineCommand({
  summary: 'Copy certificate PDFs into a new folder',
  details:
    'Also writes certificates.csv, SHA256SUMS and export.json, which records the date and completeness of the export.',
  args: { folder: makeRequired(defineText('folder', 'a new or empty folder')) },
  options: {
    organization: ORGANIZATION_OPTION,
    asOf: definePastDate('export the certificates as of this date'),
  },
  formats: { json: 'print what was written as JSON' },
  run: async (context, { folder, organization, asOf }) => {
    const at = asOf?.until ?? null;
    const interrupted = context.io.createInterruptSignal();
    const madeAt = new Date(context.io.now()).toISOString();
    const reader = await context.openReader();
    const organizationId = await findOptionalOrganizationId(reader, organization);
    const certificateRows = await readExport(reader, { organizationId, at });
    const { rows, ...completeness } =
      at === null
        ? {
            rows: certificateRows,
            gaps: [],
            known: await countKnown(reader),
            coverage: await readCoverage(reader, organizationId),
          }
        : await dropUnknownOrganizations(context, certificateRows, { organizationId, at });
    const target = createExportFolder(folder, interrupted);
    const damaged = new Set<string>();
    for (const { file, sha256 } of rows) {
      if (target.hasFile(file) || damaged.has(file)) continue;
      if (!(await target.copyPdf(await context.openPdfs(), file, file, sha256))) damaged.add(file);
    }
    const copiedRows = rows.filter(row => target.hasFile(row.file));
    const certificates = new Set(copiedRows.map(row => row.file)).size;
    const lines = copiedRows.map(row => EXPORT_COLUMNS.map(name => row[name]));
    target.append(LIST_FILE, [EXPORT_COLUMNS, ...lines].map(cells => formatCsvLine(cells)).join(''));
    const description = { madeAt, asOf: at ?? madeAt, certificates, damaged: [...damaged], ...completeness };
    target.append(DESCRIPTION_FILE, `${toJson(toSnakeKeys(description), 2)}\n`);
    target.writeChecksums();
    const instant = at === null ? '' : ` as observed by ${at}`;
    await context.printResult(
      { folder, at, certificates, damaged: description.damaged },
      `Wrote ${certificates} certificates${instant}, ${LIST_FILE}, ${DESCRIPTION_FILE} and SHA256SUMS to ${folder}.`,
    );
    if (damaged.size === 0) return;
    throw createCheckError(
      `${damaged.size} certificates were left out because their files changed since download: ${[...damaged].slice(0, 5).join(', ')}`,
      'See "carbon-mirror verify".',
    );
  },
});

/** Removes rows of organizations whose lists were unknown then. Also returns what was unknown, and when each list was read. */
async function dropUnknownOrganizations(
  context: CommandContext,
  certificateRows: readonly ExportRow[],
  request: { readonly organizationId: string | null; readonly at: string },
) {
  const reader = await context.openReader();
  const gaps: Gap[] = [];
  const coverage = [];
  let rows = certificateRows;
  for (const resource of ['retirements', 'certificates']) {
    const lists = await readCoverageAt(reader, { ...request, resource });
    for (const list of lists) {
      const { organizationId, lastReadAt } = list;
      gaps.push(...list.gaps);
      coverage.push({ organizationId, resource, lastRead: lastReadAt });
    }
    const knownIds = selectKnownOrganizationIds(context, lists);
    rows = rows.filter(row => knownIds.includes(row.organization_id));
  }
  return { rows, gaps: gaps.map(toGapData), coverage };
}
