import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storeCertificate } from '../support/certificates.js';
import { renderInstant } from '../../src/console/components/instants.js';
import { openConsoleStage, getPageText } from '../support/console.js';
import { MINUTE } from '../support/mirror/open.js';
import { retirement } from '../support/mirror/rows.js';

const PDF = '%PDF-1.7 the certificate of r-1\n%%EOF\n';
const SHA256 = createHash('sha256').update(PDF).digest('hex');

async function openRetirementStage() {
  const stood = await openConsoleStage({ now: Date.now });
  const { scene, page } = stood;
  const now = scene.clock.at;
  scene.clock.at = now - 25 * MINUTE;
  await scene.read('retirements', [retirement('r-1')]);
  scene.clock.at = now - 20 * MINUTE;
  const file = await storeCertificate(scene, 'r-1', PDF);
  const at = join(scene.folder, 'certificates', file);
  return { ...stood, words: async (path: string) => getPageText(await page(path)), file, at };
}

test('a retirement page links to the certificate, with its hash and whether it matches', async () => {
  const { page, words, file } = await openRetirementStage();
  const shown = await page('/retirements/r-1');
  expect(shown).toContain(`<a href="/certificates/${file}" id="pdf">Open the certificate</a>`);
  const said = await words('/retirements/r-1');
  expect(said).toContain('certificate matches its hash');
  expect(said).toContain(SHA256);
});

test('a retirement page shows instants in full, each with its age', async () => {
  const { words } = await openRetirementStage();
  expect(await words('/retirements/r-1')).toMatch(/Observed ?\d+ \w{3} \d{4}, [\d:.]{12} UTC \d+ min ago/);
});

test('the list of certificates links to the retirement and organization of each', async () => {
  const { page } = await openRetirementStage();
  const shown = await page('/certificates');
  expect(shown).toContain('<a href="/retirements/r-1">');
  expect(shown).toContain('<a href="/organizations/organization-1">');
});

test('a retirement page names the checkpoint that covers it', async () => {
  const sealed: number[] = [];
  const sealedIn = async (version: number) => {
    sealed.push(version);
    return 'Sealed in the checkpoint of 812 leaves.';
  };
  const { scene, page, tables } = await openConsoleStage({ describeCheckpoint: sealedIn });
  await scene.read('retirements', [retirement('r-1')]);
  expect(getPageText(await page('/retirements/r-1'))).toContain('Sealed in the checkpoint of 812 leaves.');
  expect(sealed).toEqual([Number(await tables.value('SELECT version FROM retirements'))]);
});

test('T85 a retirement page shows the freshness of its list', async () => {
  const { words, tables } = await openRetirementStage();
  expect(await words('/retirements/r-1')).toMatch(/Freshness ?fresh/);
  await tables.change("UPDATE resource_states SET error = 'unavailable', outcome = 'failed'");
  expect(await words('/retirements/r-1')).toMatch(
    /Freshness ?(stale|never read|fresh, but the last read failed)/,
  );
});

test('a changed or missing certificate file is reported as not matching', async () => {
  const { words, at } = await openRetirementStage();
  writeFileSync(at, `${PDF} `);
  expect(await words('/retirements/r-1')).toContain(
    'certificate does not match its hash: the file is changed',
  );
});

test('a certificate is served unchanged and can be framed by the console only', async () => {
  const { open, file } = await openRetirementStage();
  const answer = await open(`/certificates/${file}`);
  expect(await answer.text()).toBe(PDF);
  expect(answer.headers.get('content-type')).toBe('application/pdf');
  expect(answer.headers.get('content-security-policy')).toMatch(
    /^default-src 'none';.* frame-ancestors 'self'$/,
  );
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

test('T83 a file that no row names is not served', async () => {
  const { open, at } = await openRetirementStage();
  writeFileSync(at.replace('/r-1-', '/r-2-'), PDF);
  const names = [
    '..%2fmirror.db',
    '%2e%2e%2fmirror.db',
    'r-2.pdf',
    at.split('/').at(-1)?.replace('r-1', 'r-2') ?? '',
  ];
  for (const name of names) expect((await open(`/certificates/${name}`)).status, name).toBe(404);
});

test('a retirement page shows its provenance, known gaps and permanent link', async () => {
  const { page, words, clock } = await openRetirementStage();
  const said = await words('/retirements/r-1');
  expect(said).toMatch(/Observed by sync \d+: started .*, ended .* \(complete\)\. Triggered by delivery/);
  expect(said).toContain('Known gaps');
  const shown = await page('/retirements/r-1');
  const [, cited = ''] = /Permanent link: <a href="([^"]+)"/.exec(shown) ?? [];
  clock.at += MINUTE;
  expect(cited).toMatch(/^\/retirements\/r-1\?as-of=/);
  expect(await words(cited)).toContain('12.5 t of Peat bog 2021 retired for Harbour Ferries');
});

test('as of an instant before the mirror a retirement page shows when it was first seen, its date and the known gaps', async () => {
  const { open, words, scene } = await openRetirementStage();
  const at = new Date(scene.clock.at - 20 * MINUTE).toISOString();
  const answer = await open(`/retirements/r-1?as-of=${at}`);
  expect(answer.status).toBe(200);
  const said = getPageText(await answer.text());
  expect(said).toContain('Retirement r-1 was not in the mirror at that time.');
  expect(said).toContain(`The mirror had not observed it by ${getPageText(renderInstant(at).text)}.`);
  expect(said).toMatch(
    /First observed [^.]+\.\d+ UTC by sync \d+\. Earlier history is unknown: the list had not been read completely before\. Dated by the registry: 1 Mar 2026, 10:00:00.000 UTC\./,
  );
  expect(said).toMatch(/retirements: not known before [^.]+\.\d+ UTC, the end of the first complete read/);
  expect(said).toContain('Back to now');
  expect(said).not.toMatch(/no such page|no longer on record|Harbour Ferries/);
  expect((await open(`/retirements/r-9?as-of=${at}`)).status).toBe(404);
  expect(await words('/retirements/r-1')).toMatch(
    /First observed \d+ \w{3} \d{4}, [\d:.]{12} UTC by sync \d+\./,
  );
});

test('a certificate is not shown as of an instant before it was stored', async () => {
  const { words } = await openRetirementStage();
  expect(await words('/retirements/r-1?as-of=25m')).toContain('no certificate stored');
  expect(await words('/retirements/r-1?as-of=10m')).toContain('certificate matches its hash');
});

test('a replaced certificate file stays linked in the history', async () => {
  const { words, page, scene, file } = await openRetirementStage();
  scene.clock.at += 10 * MINUTE;
  await storeCertificate(scene, 'r-1', `${PDF}again`);
  expect(await page('/retirements/r-1')).toMatch(new RegExp(`file: <del><a href="/certificates/${file}"`));
  expect(await words('/retirements/r-1?as-of=15m')).not.toContain('file:');
});

test('T89 a row that was edited by hand is reported and not shown as confirmed unchanged', async () => {
  const { words, scene } = await openRetirementStage();
  expect(await words('/retirements/r-1')).toContain('Confirmed unchanged by');
  await scene.db.change("UPDATE retirements SET beneficiary = 'Somebody Else'");
  const said = await words('/retirements/r-1');
  expect(said).toContain('The row was edited by hand: its stored JSON contradicts beneficiary.');
  expect(said).not.toContain('Confirmed unchanged');
});
