import { readFileSync, rmSync } from 'node:fs';
import type { ExportScope } from '../../../evidence/export.js';
import type { EvidencePort, LeafInput } from '../../../evidence/port.js';
import { PACKAGE_FOLDER } from '../../../package.js';
import { CERTIFICATES } from '../../../resources/certificates.js';
import { LISTS } from '../../../resources/lists.js';
import { readVersionsById } from '../../../query/lists/find-by-id.js';
import type { Reader } from '../../../store/contract/reader.js';
import type { CommandContext } from '../../context.js';
import { sealBeforeExport } from '../../evidence/evidence-log.js';
import { createCheckError } from '../../command-error.js';
import { findRowsByName, findOrganizationId } from '../../find-rows.js';
import { createExportFolder } from '../../output/export-folder.js';

/** The text that each evidence folder contains as README.txt. */
const README = new URL('docs/evidence.txt', PACKAGE_FOLDER);
const LINES_FILE = 'evidence.jsonl';
/** The length, in characters, from which on joined lines are written. */
const WRITE_LENGTH = 1_000_000;

/** The arguments of `evidence export`. */
interface EvidenceExport {
  /** A period, an organization or a retirement, as the user wrote it. */
  readonly what: string;
  /** A new or empty folder. */
  readonly folder: string;
  /** Exports the newest checkpoint that was signed by this instant, in milliseconds; null for the newest of all. */
  readonly asOf: number | null;
  /** The text of an older checkpoint from which the log is proven to continue; null for none. */
  readonly since: string | null;
  /** True to include the coverage of organizations that the folder is not about. */
  readonly nameOthers: boolean;
}

/**
 * Writes the evidence of `what` (a period, an organization or a retirement) to a folder, as docs/evidence-format.md describes it. If `asOf`
 * is null, first appends the newest data to the evidence log and signs a checkpoint of the log. The folder names other known organizations
 * only if `nameOthers` is true. Returns the tree size, the counts of exported rows and certificates, and the size of evidence.jsonl.
 * Removes the folder after an error.
 */
export async function exportEvidenceFolder(
  context: CommandContext,
  port: EvidencePort,
  { what, folder, asOf, since, nameOthers }: EvidenceExport,
) {
  const { exportEvidence } = await import('../../../evidence/export.js');
  const { parseTreeHead } = await import('../../../evidence/checkpoint.js');
  const older = since === null ? null : parseTreeHead(since);
  const interrupted = context.io.createInterruptSignal();
  const reader = await context.openReader();
  const pdfs = await context.openPdfs();
  const scope = await findExportScope(reader, what);
  const notSealed = asOf === null ? await sealBeforeExport(context, port, scope.organizationId) : null;
  if (notSealed !== null)
    context.printNotice(
      `Before the export, not everything was sealed and timestamped: ${notSealed}. The folder shows the newest checkpoint.`,
    );
  const target = createExportFolder(folder, interrupted, LINES_FILE);
  let certificates = 0;

  /** Copies the certificate PDF of an exported record, if it has one, into the folder. Throws if the PDF has changed. */
  async function addCertificate({ record, file }: LeafInput): Promise<void> {
    const hash = String(record['sha256']);
    const copy = `certificates/${hash}.pdf`;
    if (file === null || target.hasFile(copy)) return;
    certificates += 1;
    if (await target.copyPdf(pdfs, file, copy, hash)) return;
    throw createCheckError(
      `The certificate ${file} changed since it was downloaded.`,
      'See "carbon-mirror verify".',
    );
  }

  try {
    const exported = await exportEvidence({
      port,
      scope,
      asOf,
      since: older,
      nameOthers,
      addCertificate,
    });
    const { checkpoint, lines, rows, retirements } = exported;
    if (rows === 0)
      throw createCheckError(
        `Nothing was written: no row of ${scope.kind} ${scope.value} is sealed yet.`,
        NOT_SEALED_ADVICE,
      );
    target.append('README.txt', readFileSync(README));
    target.append('checkpoint.txt', checkpoint.note);
    if (since !== null) target.append('older.txt', since);
    for (const { size, token } of await port.listTimestamps())
      if (size === checkpoint.size && token !== null) target.append(`timestamps/${size}.tst`, token);
    for (const text of joinLines(lines.iterate())) target.append(LINES_FILE, text);
    return {
      size: checkpoint.size,
      retirements,
      others: rows - retirements,
      certificates,
      bytes: lines.getBytes(),
    };
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

/** Joins lines to texts of about a megabyte, because many small writes would be slow. */
function* joinLines(lines: Iterable<string>): Generator<string> {
  let text = '';
  for (const line of lines) {
    text += line;
    if (text.length < WRITE_LENGTH) continue;
    yield text;
    text = '';
  }
  yield text;
}

const NOT_SEALED_ADVICE =
  'A worker with EVIDENCE_KEY_FILE seals new observations within a minute. The history that a demo plays is never sealed.';

/** Finds the period, retirement or organization that the user's text names. Throws if there is none. */
async function findExportScope(reader: Reader, text: string): Promise<ExportScope> {
  if (/^\d{4}(?:-(?:0[1-9]|1[0-2]))?$/.test(text))
    return { kind: 'period', value: text, organizationId: null, numbers: [] };
  const read = async (id: string) => await readVersionsById(reader, LISTS.retirements, id);
  const from = 'retirements_history';
  const isId = /^[0-9a-f]{8}/i.test(text);
  const [first, ...more] = await (isId
    ? findRowsByName(reader, LISTS.retirements, text, read, { from })
    : read(text));
  if (first === undefined) {
    const organizationId = await findOrganizationId(reader, text);
    return { kind: 'organization', value: organizationId, organizationId, numbers: [] };
  }
  const value = String(first['id']);
  const rows = [first, ...more, ...(await readVersionsById(reader, CERTIFICATES, value))];
  const numbers = rows.flatMap(row => [row['version'], row['closed_version']]);
  return {
    kind: 'retirement',
    value,
    organizationId: String(first['organization_id']),
    numbers: numbers.filter(number => number != null).map(Number),
  };
}
