import { join } from 'node:path';
import { type Gap, toGapData } from '../../query/answer/gap.js';
import { EXPORT_COLUMNS, type ExportRow, readCoverage, readExport } from '../../query/certificates.js';
import { countInstalled } from '../../query/coverage.js';
import { readCoverageAt, selectKnownIds, toNotesAt } from '../../query/history/as-of.js';
import type { ListRequest } from '../../query/lists/list-type.js';
import { CERTIFICATES } from '../../query/lists/list-definitions.js';
import { getFilterText } from '../../query/lists/parse-request.js';
import { readTotals } from '../../query/lists/totals.js';
import { findUnmatchedFilters } from '../../query/lists/unmatched-filters.js';
import { LISTS } from '../../resources/lists.js';
import type { Reader } from '../../store/contract/reader.js';
import { nameCertificate } from '../../text/certificate-name.js';
import { formatCsvLine } from '../../text/csv.js';
import { formatCount } from '../../text/numbers.js';
import { saveCertificate } from '../certificate-files.js';
import { defineCommand } from '../define-command.js';
import type { CommandContext } from '../context.js';
import { createCheckError, createNotFoundError } from '../command-error.js';
import { findOptionalOrganizationId, findRowVersions } from '../find-rows.js';
import { createFilterOptions, toListRequest } from '../lists/filter-options.js';
import { definePastDate, defineText, makeRequired, ORGANIZATION_OPTION, withDefault } from '../options.js';
import { assertKnown, printAnswerNotes } from '../output/answer.js';
import { describeCaveats } from '../../query/answer/describe-notes.js';
import { toJson, toSnakeKeys } from '../output/output-formats.js';
import { createExportFolder } from '../output/export-folder.js';

const LIST_FILE = 'certificates.csv';
const DESCRIPTION_FILE = 'export.json';

/** The filters of the list of certificates, but not the state: only stored certificates are exported. */
const { state: _state, ...EXPORT_FILTERS } = createFilterOptions(CERTIFICATES);

export const EXPORT = defineCommand({
  summary: 'Copy certificate PDFs into a new folder',
  details:
    'Also writes certificates.csv, SHA256SUMS and export.json, which records the date, the filters and the completeness of the export. ' +
    '--year, --since and --until are dates of retirements. Writes nothing if no certificate matches.',
  args: { folder: makeRequired(defineText('folder', 'a new or empty folder')) },
  options: {
    ...EXPORT_FILTERS,
    asOf: definePastDate('export the certificates as of this date'),
  },
  formats: { json: 'print what was written as JSON' },
  examples: [
    'carbon-mirror certificates export FOLDER --year 2025',
    'carbon-mirror certificates export FOLDER --organization ID --as-of yesterday',
  ],
  run: async (context, { folder, asOf, ...filterOptions }) => {
    const at = asOf?.until ?? null;
    const interrupted = context.io.createInterruptSignal();
    const madeAt = new Date(context.io.now()).toISOString();
    const reader = await context.openReader();
    const request = await toListRequest(context, CERTIFICATES, { filterOptions, instant: at });
    const organizationId = getFilterText(request, 'organization_id');
    const certificateRows = await readExport(reader, request);
    const { rows, organizationIds, ...completeness } =
      at === null
        ? {
            rows: certificateRows,
            organizationIds: undefined,
            gaps: [],
            known: await countInstalled(reader),
            coverage: await readCoverage(reader, organizationId),
          }
        : await dropUnknownOrganizations(context, certificateRows, { organizationId, at });
    const matching = await readTotals(reader, limitToOrganizations(request, organizationIds), null);
    const notStored = matching.rows - rows.length;
    if (rows.length === 0) throw await createNothingToExportError(reader, request, notStored);
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
    const description = {
      madeAt,
      asOf: at ?? madeAt,
      filters: Object.fromEntries(request.filters.map(({ filter, text }) => [filter.option, text])),
      certificates,
      notStored,
      damaged: [...damaged],
      ...completeness,
    };
    target.append(DESCRIPTION_FILE, `${toJson(toSnakeKeys(description), 2)}\n`);
    target.writeChecksums();
    const instant = at === null ? '' : ` as observed by ${at}`;
    await context.printResult(
      { folder, at, certificates, notStored, damaged: description.damaged },
      `Wrote ${formatCount(certificates, 'certificate')}${instant}, ${LIST_FILE}, ${DESCRIPTION_FILE} and SHA256SUMS to ${folder}.`,
    );
    context.printNotice(...describeNotStored(notStored));
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
    const where = [
      { column: 'organization_id', is: organizationId },
      { column: 'retirement_id', is: retirementId },
    ];
    const stored = await readExport(reader, { where, at });
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

/**
 * Creates the error for an export that matches no stored certificate. The error names each filter that no certificate matches, and suggests
 * similar values. It also states `notStored`, the number of matching certificates without a stored PDF.
 */
async function createNothingToExportError(reader: Reader, request: ListRequest, notStored: number) {
  const { filters, at } = request;
  const unmatched = await findUnmatchedFilters(reader, request);
  const instant = at === null ? '' : ` as observed by ${at}`;
  return createNotFoundError(
    [
      `No stored certificate matches${filters.length === 0 ? '' : ' these filters'}${instant}. Nothing was written.`,
      ...describeCaveats(unmatched),
      ...describeNotStored(notStored),
    ],
    'See "carbon-mirror certificates list" with the same filters.',
  );
}

/** Limits a request to the organizations with these ids. Returns the request unchanged if `organizationIds` is undefined. */
function limitToOrganizations(request: ListRequest, organizationIds?: readonly string[]): ListRequest {
  if (organizationIds === undefined) return request;
  return { ...request, where: [...request.where, { column: 'organization_id', among: organizationIds }] };
}

/** Says how many matching certificates have no stored PDF. Returns no line for 0. */
function describeNotStored(count: number): string[] {
  if (count === 0) return [];
  return [`${formatCount(count, 'matching certificate')} without a PDF: unclaimed, or not downloaded yet.`];
}

/**
 * Drops the certificate rows of organizations whose retirements or certificates the mirror did not know at the instant `at`, because the
 * list was not read yet or could no longer be read.
 *
 * Returns the remaining rows, the ids of the organizations with both lists known, the time of the last read of each list, and the gaps:
 * each list that was not fully known, with the reason. Prints notes about the lists. Throws if no list of retirements, or no list of
 * certificates, was known.
 */
async function dropUnknownOrganizations(
  context: CommandContext,
  certificateRows: readonly ExportRow[],
  request: { readonly organizationId: string | null; readonly at: string },
) {
  const reader = await context.openReader();
  const gaps: Gap[] = [];
  const coverage = [];
  let organizationIds: readonly string[] | undefined;
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
    organizationIds = (organizationIds ?? knownIds).filter(id => knownIds.includes(id));
  }
  const rows = certificateRows.filter(row => organizationIds?.includes(row.organization_id));
  return { rows, organizationIds, gaps: gaps.map(toGapData), coverage };
}
