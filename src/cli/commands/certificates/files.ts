import { createHash } from 'node:crypto';
import type { Reader } from '../../../store/contract/reader.js';
import type { PdfStore } from '../../../mirror/pdf-store.js';
import {
  EXPORT_COLUMNS,
  type ExportRow,
  isNamed,
  readCoverage,
  readExport,
  readStoredFiles,
  type StoredFile,
} from '../../../query/certificates.js';
import { checkFault, demandNotInterrupted } from '../../exit.js';
import { readKnownAt } from '../../../query/history/as-of.js';
import { countKnown } from '../../../query/coverage.js';
import { csvLine } from '../../../text/csv.js';
import type { Context } from '../../context.js';
import { idsKnown, organizationOrAll } from '../../find/in-mirror.js';
import { jsonText, withSnakeKeys } from '../../output/output.js';
import { createSummedFolder } from '../../output/summed-folder.js';

/** Hash every stored file again and compare it with its row. */
export async function verifyFiles(reader: Reader, pdfs: PdfStore, interrupted: AbortSignal) {
  const faults: { readonly file: string; readonly fault: string }[] = [];
  const named = new Set<string>();
  /** What is hashed takes long: no question is left open meanwhile. */
  for (const stored of await readStoredFiles(reader)) {
    demandNotInterrupted(interrupted);
    named.add(stored.file);
    const fault = await findFault(pdfs, stored);
    if (fault !== null && (await isNamed(reader, stored.file))) faults.push({ file: stored.file, fault });
  }
  return { checked: named.size, faults };
}

/** Null where it is as it was stored. */
async function findFault(pdfs: PdfStore, { file, sha256, size }: StoredFile): Promise<string | null> {
  try {
    const found = await measure(pdfs, file);
    if (found === null) return 'missing';
    return found.sha256 === sha256 && found.size === size ? null : 'changed';
  } catch (error) {
    return `unreadable (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'})`;
  }
}

/** A file as it is now; null where it is not there. */
export async function measure(
  pdfs: PdfStore,
  file: string,
): Promise<{ readonly sha256: string; readonly size: number } | null> {
  const body = await pdfs.open(file);
  if (body === null) return null;
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of body) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { sha256: hash.digest('hex'), size };
}

const LIST = 'certificates.csv';
const ABOUT = 'export.json';

/** What stood at an instant, or stands now. */
export async function exportCertificates(
  context: Context,
  folder: string,
  organization: string | undefined,
  at: string | null,
): Promise<void> {
  const interrupted = context.io.interruption();
  const madeAt = new Date(context.io.now()).toISOString();
  const reader = await context.reader();
  const organizationId = await organizationOrAll(reader, organization);
  const all = await readExport(reader, { organizationId, at });
  const rows = at === null ? all : await ofKnown(context, all, { organizationId, at });
  const trust = { known: await countKnown(reader), coverage: await readCoverage(reader, organizationId) };
  const into = createSummedFolder(folder, interrupted);
  const damaged = new Set<string>();
  for (const { file, sha256 } of rows) {
    if (into.has(file) || damaged.has(file)) continue;
    if (!(await into.copy(await context.pdfs(), file, file, sha256))) damaged.add(file);
  }
  const whole = rows.filter(row => into.has(row.file));
  const certificates = new Set(whole.map(row => row.file)).size;
  const lines = whole.map(row => EXPORT_COLUMNS.map(name => row[name]));
  into.append(LIST, [EXPORT_COLUMNS, ...lines].map(cells => csvLine(cells)).join(''));
  const about = { madeAt, asOf: at ?? madeAt, certificates, damaged: [...damaged], ...trust };
  into.append(ABOUT, `${jsonText(withSnakeKeys(about), 2)}\n`);
  into.finish();
  const then = at === null ? '' : ` as observed by ${at}`;
  await context.tell(
    { folder, at, certificates, damaged: about.damaged },
    `Wrote ${certificates} certificates${then}, ${LIST}, ${ABOUT} and SHA256SUMS to ${folder}.`,
  );
  if (damaged.size === 0) return;
  throw checkFault(
    `${damaged.size} certificates are left out, because their files are not as they were stored: ${[...damaged].slice(0, 5).join(', ')}`,
    'See "carbon-mirror verify".',
  );
}

/** What belongs to organizations whose retirements and certificates were known then. */
async function ofKnown(
  context: Context,
  all: readonly ExportRow[],
  then: { readonly organizationId: string | null; readonly at: string },
): Promise<readonly ExportRow[]> {
  const reader = await context.reader();
  let rows = all;
  for (const resource of ['retirements', 'certificates']) {
    const known = idsKnown(context, await readKnownAt(reader, { ...then, resource }), resource);
    rows = rows.filter(row => known.includes(row.organization_id));
  }
  return rows;
}
