import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Exporting, What } from '../../../evidence/export.js';
import type { EvidencePort } from '../../../evidence/port.js';
import { PACKAGE } from '../../../package.js';
import { CERTIFICATES } from '../../../resources/certificates.js';
import { LISTS } from '../../../resources/lists.js';
import { readDeliveriesOf } from '../../../query/inbox/deliveries-and-jobs.js';
import { readHistory } from '../../../query/lists/find.js';
import type { Reader } from '../../../store/contract/reader.js';
import type { Context } from '../../context.js';
import { checkFault, demandNotInterrupted } from '../../exit.js';
import { organizationIn } from '../../find/in-mirror.js';
import { makeEmptyFolder, measure } from '../certificates/files.js';
import { PAGE_END, pageHead, pageRow } from './page.js';

const PRIVATE_FILE = { mode: 0o600 };
const PRIVATE_FOLDER = { mode: 0o700, recursive: true };
const SCRIPT = new URL('docs/check.sh', PACKAGE);
const README = new URL('docs/evidence.txt', PACKAGE);

/** SHA256SUMS is written last: where it is there, the folder is whole. */
export async function writeEvidence(
  context: Context,
  port: EvidencePort,
  { what, folder, asOf, since }: { what: string; folder: string } & Pick<Exporting, 'asOf' | 'since'>,
) {
  const { exportEvidence } = await import('../../../evidence/export.js');
  const interrupted = context.io.interruption();
  const reader = await context.reader();
  const pdfs = await context.pdfs();
  const asked = await readWhat(reader, what);
  makeEmptyFolder(folder);
  const files = new Set<string>();
  const pathOf = (file: string) => {
    demandNotInterrupted(interrupted, `Interrupted: ${folder} is not complete, it has no SHA256SUMS.`);
    const path = join(folder, file);
    if (!files.has(file)) mkdirSync(dirname(path), PRIVATE_FOLDER);
    files.add(file);
    return path;
  };
  const write = async (file: string, text: string) => appendFileSync(pathOf(file), text, PRIVATE_FILE);
  const document = async (file: string, text: string) => {
    const path = pathOf(file);
    if (!existsSync(path)) writeFileSync(path, text, PRIVATE_FILE);
  };
  const certificate = async (file: string, stored: string, hash: string) => {
    const path = pathOf(file);
    if (existsSync(path)) return;
    const copied = await measure(pdfs, stored, async chunk => appendFileSync(path, chunk, PRIVATE_FILE));
    if (copied?.sha256 !== hash)
      throw checkFault(`The certificate ${stored} is not as it was stored.`, 'See "carbon-mirror verify".');
  };
  const title = `Evidence of ${asked.what} ${asked.which}`;
  await write('page.html', pageHead(title));
  const rowShown = async (version: Parameters<typeof pageRow>[0]) => write('page.html', pageRow(version));
  const exported = await exportEvidence({ port, asked, asOf, since, write, document, certificate, rowShown });
  await write('page.html', PAGE_END);
  await write('deliveries.txt', '');
  for (const delivery of await readDeliveriesOf(reader, exported.syncs))
    await write('deliveries.txt', `${JSON.stringify(delivery)}\n`);
  const { size, note } = exported.checkpoint;
  copyFileSync(SCRIPT, pathOf('check.sh'));
  const [origin = ''] = note.split('\n');
  const told: Record<string, unknown> = { title, origin, size, sha256: sha256Of(join(folder, 'check.sh')) };
  const readme = readFileSync(README, 'utf8');
  await write(
    'README.txt',
    readme.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(told[name])),
  );
  const sums = [...files].toSorted().map(file => `${sha256Of(join(folder, file))}  ${file}\n`);
  await write('SHA256SUMS', sums.join(''));
  return { size, rows: exported.rows, files: files.size };
}

/** A period, the id of a retirement, or an organization. */
async function readWhat(reader: Reader, text: string): Promise<What> {
  if (/^\d{4}(?:-(?:0[1-9]|1[0-2]))?$/.test(text)) return { what: 'period', which: text };
  const versions = await readHistory(reader, LISTS.retirements, text);
  const [first] = versions;
  if (first === undefined) return { what: 'organization', which: await organizationIn(reader, text) };
  const certificates = await readHistory(reader, CERTIFICATES, text);
  const numbers = [...versions, ...certificates].flatMap(row => [row['version'], row['closed_version']]);
  return {
    what: 'retirement',
    which: text,
    organizationId: String(first['organization_id']),
    numbers: numbers.filter(number => number != null).map(Number),
  };
}

function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
