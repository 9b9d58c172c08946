import { readFileSync, rmSync } from 'node:fs';
import type { ExportRequest, ExportScope } from '../../../evidence/export.js';
import type { EvidencePort } from '../../../evidence/port.js';
import { PACKAGE_FOLDER } from '../../../package.js';
import { CERTIFICATES } from '../../../resources/certificates.js';
import { LISTS } from '../../../resources/lists.js';
import { readDeliveriesOf } from '../../../query/inbox/deliveries.js';
import { readHistory } from '../../../query/lists/find.js';
import { readOrganizationNames } from '../../../query/names.js';
import type { Reader } from '../../../store/contract/reader.js';
import type { CommandContext } from '../../context.js';
import { sealBeforeExport } from '../../evidence-log.js';
import { createCheckError } from '../../exit.js';
import { findRowsByName, findOrganizationId } from '../../find/find-rows.js';
import { createChecksummedFolder } from '../../output/checksummed-folder.js';
import { createPageTotals, renderPageHead, renderExportedRow } from './export-page.js';

const SCRIPT = new URL('docs/check.sh', PACKAGE_FOLDER);
const README = new URL('docs/evidence.txt', PACKAGE_FOLDER);

/**
 * Writes the evidence of a period, organization or retirement to a new folder. Returns the number of exported
 * rows and files.
 */
export async function exportEvidenceFolder(
  context: CommandContext,
  port: EvidencePort,
  { what, folder, asOf, since }: { what: string; folder: string } & Pick<ExportRequest, 'asOf' | 'since'>,
) {
  const { exportEvidence } = await import('../../../evidence/export.js');
  const interrupted = context.io.createInterruptSignal();
  const reader = await context.openReader();
  const pdfs = await context.openPdfs();
  const scope = await findExportScope(reader, what);
  const notSealed = asOf === null ? await sealBeforeExport(context, port, scope.organizationId) : null;
  if (notSealed !== null)
    context.printNotice(
      `The folder shows when the lists were last read as of the newest checkpoint. Nothing was sealed before the export: ${notSealed}.`,
    );
  const target = createChecksummedFolder(folder, interrupted);
  const names = new Map((await readOrganizationNames(reader)).map(({ id, name }) => [id, name]));
  const totals = createPageTotals(names);
  const title = `Evidence of ${scope.what} ${scope.which}`;
  target.append('page.html', renderPageHead(title));
  let rows = 0;
  let retirements = 0;
  const exported = await exportEvidence({
    port,
    asked: scope,
    asOf,
    since,
    write: target.append,
    attach: async (fact, file) => {
      const { record, document, file: stored } = fact;
      const hash = String(record['sha256']);
      const json = `documents/${record['document_sha256']}.json`;
      const pdf = `certificates/${hash}.pdf`;
      if (document !== null && !target.hasFile(json)) target.append(json, document);
      if (stored !== null && !target.hasFile(pdf) && !(await target.copyPdf(pdfs, stored, pdf, hash)))
        throw createCheckError(
          `The certificate ${stored} changed since it was downloaded.`,
          'See "carbon-mirror verify".',
        );
      if (file === 'rows.txt') rows += 1;
      if (file === 'rows.txt' && fact.resource === 'retirements') retirements += 1;
      if (file === 'context.txt' && fact.resource !== 'certificates') return;
      target.append('page.html', renderExportedRow(fact, names));
      totals.add(fact);
    },
  }).catch((error: unknown) => {
    rmSync(folder, { recursive: true });
    throw error;
  });
  target.append('page.html', totals.end());
  const deliveries = await readDeliveriesOf(reader, exported.syncs);
  target.append('deliveries.txt', deliveries.map(delivery => `${JSON.stringify(delivery)}\n`).join(''));
  if (rows === 0) {
    rmSync(folder, { recursive: true });
    throw createCheckError(
      `Nothing was written: no row of ${scope.what} ${scope.which} is sealed yet.`,
      NOT_SEALED_ADVICE,
    );
  }
  const { size, note } = exported.checkpoint;
  target.append('check.sh', readFileSync(SCRIPT));
  const [origin = ''] = note.split('\n');
  const placeholders: Record<string, unknown> = { title, origin, size, sha256: target.getSha256('check.sh') };
  const readme = readFileSync(README, 'utf8');
  target.append(
    'README.txt',
    readme.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(placeholders[name])),
  );
  return { size, retirements, others: rows - retirements, files: target.writeChecksums() };
}

const NOT_SEALED_ADVICE =
  'A worker with EVIDENCE_KEY_FILE seals new observations within a minute. The history that a demo plays is never sealed.';

/** Finds the period, retirement or organization that the user wants to export. */
async function findExportScope(reader: Reader, text: string): Promise<ExportScope> {
  if (/^\d{4}(?:-(?:0[1-9]|1[0-2]))?$/.test(text))
    return { what: 'period', which: text, organizationId: null, numbers: [] };
  const read = async (id: string) => await readHistory(reader, LISTS.retirements, id);
  const from = 'retirements_history';
  const isId = /^[0-9a-f]{8}/i.test(text);
  const [first, ...more] = await (isId
    ? findRowsByName(reader, LISTS.retirements, text, read, { from })
    : read(text));
  if (first === undefined) {
    const organizationId = await findOrganizationId(reader, text);
    return { what: 'organization', which: organizationId, organizationId, numbers: [] };
  }
  const which = String(first['id']);
  const rows = [first, ...more, ...(await readHistory(reader, CERTIFICATES, which))];
  const numbers = rows.flatMap(row => [row['version'], row['closed_version']]);
  return {
    what: 'retirement',
    which,
    organizationId: String(first['organization_id']),
    numbers: numbers.filter(number => number != null).map(Number),
  };
}
