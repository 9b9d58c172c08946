import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder } from '../../../folder.js';
import type { Reader } from '../../../engines/contract/reader.js';
import {
  EXPORT_COLUMNS,
  type ExportRow,
  readCoverage,
  readExport,
  readNotKnownAt,
} from '../../../query/certificates.js';
import { countKnown } from '../../../query/coverage.js';
import { readSpan } from '../../instant.js';
import type { PdfStore } from '../../../mirror/pdf-store.js';
import { copyFile, measure } from './files.js';
import { CommandFault, demandNotInterrupted, EXIT } from '../../exit.js';
import { type Io, say } from '../../io.js';
import { organizationOrAll } from '../../named/in-mirror.js';
import { csvLine } from '../../../text/csv.js';
import { jsonText, writeValue } from '../../output/output.js';
import { withSnakeKeys } from '../../snake-case.js';
import { findPlace } from '../../place/find-place.js';
import { reading, withPdfs } from '../../place/place.js';

export interface ExportOptions {
  readonly organization?: string;
  readonly asOf?: string;
  readonly json?: boolean;
}

const PRIVATE_FILE = 0o600;
const LIST = 'certificates.csv';
const SUMS = 'SHA256SUMS';
const ABOUT = 'export.json';

/** SHA256SUMS is written last: where it is there, the export is whole. */
export async function exportCertificates(io: Io, folder: string, options: ExportOptions): Promise<void> {
  const place = findPlace(io);
  const at = options.asOf === undefined ? null : readSpan(options.asOf, io.now()).to;
  const interrupted = io.interruption();
  const madeAt = new Date(io.now()).toISOString();
  const { rows, known, coverage } = await reading(place, async reader => {
    const organizationId = await organizationOrAll(reader, options.organization);
    await demandKnown(reader, organizationId, at);
    return {
      rows: await readExport(reader, { organizationId, at }),
      known: await countKnown(reader),
      coverage: await readCoverage(reader, organizationId),
    };
  });
  makeEmptyFolder(folder);
  const { sums, damaged } = await withPdfs(place, io.now, pdfs => copyAll(pdfs, folder, rows, interrupted));
  const list = csvOf(rows.filter(row => sums.has(row.file)));
  await writeText(join(folder, LIST), list);
  const certificates = sums.size;
  sums.set(LIST, sumOf(list));
  const about = `${jsonText(withSnakeKeys({ madeAt, asOf: at ?? madeAt, certificates, damaged, known, coverage }), 2)}\n`;
  await writeText(join(folder, ABOUT), about);
  sums.set(ABOUT, sumOf(about));
  await writeText(join(folder, SUMS), [...sums].map(([file, sum]) => `${sum}  ${file}\n`).join(''));
  if (options.json) await writeValue(io, { folder, at, certificates, damaged });
  const then = at === null ? '' : ` as told by ${at}`;
  say(io, `Wrote ${certificates} certificates${then}, ${LIST}, ${ABOUT} and ${SUMS} to ${folder}.`);
  if (damaged.length === 0) return;
  throw new CommandFault(
    EXIT.checkFailed,
    `${damaged.length} certificates are left out, because their files are not as they were stored: ${damaged.slice(0, 5).join(', ')}`,
    'See "carbon-mirror certificates verify".',
  );
}

async function demandKnown(reader: Reader, organizationId: string | null, at: string | null): Promise<void> {
  const unknown = at === null ? [] : await readNotKnownAt(reader, organizationId, at);
  if (unknown.length === 0) return;
  const lines = unknown.map(({ organizationId: id, since }) =>
    since === null ? `${id}: never read completely` : `${id}: not known before ${since}`,
  );
  throw new CommandFault(
    EXIT.checkFailed,
    lines,
    'The mirror cannot tell which certificates were there before its first complete read.',
  );
}

function makeEmptyFolder(folder: string): void {
  if (!existsSync(folder)) {
    makePrivateFolder(folder);
    return;
  }
  if (statSync(folder).isDirectory() && readdirSync(folder).length === 0) return;
  throw new CommandFault(
    EXIT.usage,
    `${folder} is there already and not an empty folder.`,
    'Name a new folder: an export never overwrites anything.',
  );
}

interface Copied {
  /** SHA-256 by file name, in the order of writing. */
  readonly sums: Map<string, string>;
  readonly damaged: readonly string[];
}

async function copyAll(
  pdfs: PdfStore,
  folder: string,
  rows: readonly ExportRow[],
  interrupted: AbortSignal,
): Promise<Copied> {
  const sums = new Map<string, string>();
  const damaged: string[] = [];
  for (const { file, sha256 } of rows) {
    demandNotInterrupted(interrupted, `Interrupted: ${folder} is not complete, it has no ${SUMS}.`);
    if (sums.has(file)) continue;
    if (await copyWhole(pdfs, file, folder, sha256)) sums.set(file, sha256);
    else damaged.push(file);
  }
  return { sums, damaged };
}

/** A file that is not what its row says is not handed to an auditor. */
async function copyWhole(pdfs: PdfStore, file: string, folder: string, sha256: string): Promise<boolean> {
  if ((await measure(pdfs, file))?.sha256 !== sha256) return false;
  return (await copyFile(pdfs, file, folder)) === sha256;
}

function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function csvOf(rows: readonly ExportRow[]): string {
  const lines = rows.map(row => EXPORT_COLUMNS.map(name => row[name]));
  return [EXPORT_COLUMNS, ...lines].map(cells => csvLine(cells)).join('');
}

async function writeText(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', PRIVATE_FILE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
