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
import { checkFault, demandNotInterrupted, usageFault } from '../../exit.js';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder } from '../../../folder.js';
import { readKnownAt } from '../../../query/history/as-of.js';
import { countKnown } from '../../../query/coverage.js';
import { csvLine } from '../../../text/csv.js';
import type { Context } from '../../context.js';
import { organizationOrAll } from '../../find/in-mirror.js';
import { idsKnown } from '../../known-at.js';
import { jsonText } from '../../output/output.js';
import { withSnakeKeys } from '../../snake-case.js';

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

/** A file as it is now; null where it is not there. Each of its pieces can be kept on the way. */
export async function measure(
  pdfs: PdfStore,
  file: string,
  keep: (chunk: Uint8Array) => Promise<void> = async () => undefined,
): Promise<{ readonly sha256: string; readonly size: number } | null> {
  const body = await pdfs.open(file);
  if (body === null) return null;
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of body) {
    hash.update(chunk);
    size += chunk.length;
    await keep(chunk);
  }
  return { sha256: hash.digest('hex'), size };
}

const PRIVATE_FILE = 0o600;
const LIST = 'certificates.csv';
const SUMS = 'SHA256SUMS';
const ABOUT = 'export.json';

/** What stood at an instant, or stands now. SHA256SUMS is written last: where it is there, the export is whole. */
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
  makeEmptyFolder(folder);
  /** SHA-256 by file name, in the order of writing. */
  const sums = new Map<string, string>();
  const damaged: string[] = [];
  for (const row of rows) {
    demandNotInterrupted(interrupted, `Interrupted: ${folder} is not complete, it has no ${SUMS}.`);
    if (sums.has(row.file)) continue;
    if (await copyWhole(await context.pdfs(), row, folder)) sums.set(row.file, row.sha256);
    else damaged.push(row.file);
  }
  const certificates = sums.size;
  const lines = rows.filter(row => sums.has(row.file)).map(row => EXPORT_COLUMNS.map(name => row[name]));
  const list = [EXPORT_COLUMNS, ...lines].map(cells => csvLine(cells)).join('');
  const about = { madeAt, asOf: at ?? madeAt, certificates, damaged, ...trust };
  for (const [file, text] of [
    [LIST, list],
    [ABOUT, `${jsonText(withSnakeKeys(about), 2)}\n`],
  ] as const) {
    writeFileSync(join(folder, file), text, { flag: 'wx', mode: PRIVATE_FILE, flush: true });
    sums.set(file, createHash('sha256').update(text).digest('hex'));
  }
  writeFileSync(join(folder, SUMS), [...sums].map(([file, sum]) => `${sum}  ${file}\n`).join(''), {
    flag: 'wx',
    mode: PRIVATE_FILE,
    flush: true,
  });
  if (context.format === 'json') await context.value({ folder, at, certificates, damaged });
  const then = at === null ? '' : ` as observed by ${at}`;
  context.say(`Wrote ${certificates} certificates${then}, ${LIST}, ${ABOUT} and ${SUMS} to ${folder}.`);
  if (damaged.length === 0) return;
  throw checkFault(
    `${damaged.length} certificates are left out, because their files are not as they were stored: ${damaged.slice(0, 5).join(', ')}`,
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

export function makeEmptyFolder(folder: string): void {
  if (!existsSync(folder)) return makePrivateFolder(folder);
  if (statSync(folder).isDirectory() && readdirSync(folder).length === 0) return;
  throw usageFault(
    `${folder} is there already and not an empty folder.`,
    'Name a new folder: an export never overwrites anything.',
  );
}

/** A file that is not what its row says is not handed to an auditor. */
async function copyWhole(pdfs: PdfStore, { file, sha256 }: ExportRow, folder: string): Promise<boolean> {
  const path = join(folder, file);
  const target = await open(path, 'wx', PRIVATE_FILE);
  try {
    const copied = await measure(pdfs, file, chunk => target.writeFile(chunk));
    if (copied?.sha256 === sha256) return true;
  } finally {
    await target.close();
  }
  rmSync(path);
  return false;
}
