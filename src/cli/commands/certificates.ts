import { join } from 'node:path';
import { EXPORT_COLUMNS, type ExportRow, readCoverage, readExport } from '../../query/certificates.js';
import { countKnown } from '../../query/coverage.js';
import { type Gap, toGapData } from '../../query/answer/gap.js';
import { readCoverageAt, selectKnownIds, toNotesAt } from '../../query/history/as-of.js';
import { LISTS } from '../../resources/lists.js';
import { nameCertificate } from '../../text/certificate-name.js';
import { formatCsvLine } from '../../text/csv.js';
import { saveCertificate } from '../certificate-files.js';
import { defineCommand } from '../define-command.js';
import type { CommandContext } from '../context.js';
import { createCheckError, createNotFoundError } from '../command-error.js';
import { findOptionalOrganizationId, findRowVersions } from '../find/find-rows.js';
import { definePastDate, defineText, makeRequired, ORGANIZATION_OPTION, withDefault } from '../options.js';
import { assertKnown, printAnswerNotes } from '../output/answer.js';
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

export const GET = defineCommand({
  summary: 'Save the certificate of one retirement',
  details:
    'Writes the PDF under a readable name, such as "2026-08-08 Quillford Freight 2200 t 7023a782.pdf", and checks its SHA-256. An existing file is never overwritten.',
  args: {
    retirement: makeRequired(defineText('retirement', 'id of the retirement, or its first characters')),
  },
  options: {
    folder: withDefault(defineText('folder', 'an existing folder to write to'), '.'),
    organization: ORGANIZATION_OPTION,
    asOf: definePastDate('the certificate as of this date'),
  },
  formats: { json: 'print the file as JSON' },
  examples: ['carbon-mirror certificates get 7023a782', 'carbon-mirror certificates get ID --as-of now'],
  run: async (context, { retirement, folder, organization, asOf }) => {
    const reader = await context.openReader();
    const at = asOf?.until ?? null;
    const owner = await findOptionalOrganizationId(reader, organization);
    const [version = {}] = await findRowVersions(reader, LISTS.retirements, retirement, owner);
    const retirementId = String(version['id']);
    const organizationId = String(version['organization_id']);
    const stored = await readExport(reader, { organizationId, retirementId, at });
    const rows =
      at === null ? stored : (await dropUnknownOrganizations(context, stored, { organizationId, at })).rows;
    const [row] = rows;
    const instant = at === null ? '' : ` as observed by ${at}`;
    if (row === undefined)
      throw createNotFoundError(
        `No certificate of retirement ${retirementId} is stored${instant}.`,
        `See "carbon-mirror retirements show ${retirementId}".`,
      );
    const { beneficiary, amount, retired_at: retiredAt, file, sha256 } = row;
    const path = join(folder, nameCertificate({ retiredAt, beneficiary, amount, retirementId }));
    await saveCertificate(await context.openPdfs(), { file, sha256, path });
    await context.printResult(
      { retirement_id: retirementId, file: path, sha256, as_of: at },
      `Saved the certificate${instant} as ${path} (SHA-256 ${sha256}).`,
    );
  },
});

/** Removes rows of organizations whose lists were unknown at the instant `at`. Also returns the gaps and read times. */
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
    const notes = { ...toNotesAt(request.at, lists), totals: null };
    assertKnown([notes]);
    printAnswerNotes(context.io, notes, resource);
    const knownIds = selectKnownIds(lists);
    rows = rows.filter(row => knownIds.includes(row.organization_id));
  }
  return { rows, gaps: gaps.map(toGapData), coverage };
}
