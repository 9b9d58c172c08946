import { expect, test } from 'vitest';
import {
  addRetirements,
  EXPORT_COLUMNS,
  isFileReferenced,
  readCoverage,
  readExport,
  readStoredFiles,
} from '../../src/query/certificates.js';
import { writeCertificate } from '../support/certificates.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { retirement } from '../support/mirror/rows.js';

test('a stored certificate is exported with the retirement that it proves', async () => {
  const mirror = await openFilledMirror({ organizations: 2 });
  const { reader } = mirror;
  await writeCertificate(mirror, 'r-1-0');
  const [file] = await readStoredFiles(reader);
  expect(await readExport(reader, { where: [], at: null })).toMatchObject([
    {
      retirement_id: 'r-1-0',
      organization_id: 'organization-1',
      organization_name: 'Organization 1',
      beneficiary: 'Harbour Ferries',
      amount: '12.5',
      project: 'Peat bog',
      vintage: '2021',
      retired_at: '2026-03-01T10:00:00.000Z',
      file: file?.file,
      sha256: file?.sha256,
    },
  ]);
  expect(Object.keys((await readExport(reader, { where: [], at: null }))[0] ?? {})).toEqual(
    expect.arrayContaining([...EXPORT_COLUMNS]),
  );
  expect(EXPORT_COLUMNS).toHaveLength(14);
  expect(
    await readExport(reader, { where: [{ column: 'organization_id', is: 'organization-2' }], at: null }),
  ).toEqual([]);
  expect(await readExport(reader, { where: [], at: '2020-01-01T00:00:00.000Z' })).toEqual([]);
});

test('an export as of an instant has the retirement of that instant', async () => {
  const mirror = await openFilledMirror({ organizations: 1 });
  const { reader, clock, read } = mirror;
  await writeCertificate(mirror, 'r-1-0');
  const before = new Date(clock.at).toISOString();
  clock.at += 1_000;
  await read('retirements', [retirement('r-1-0', { beneficiary: 'Northern Rail' })]);
  const named = async (at: string | null) =>
    (await readExport(reader, { where: [], at })).map(each => each.beneficiary);
  expect([await named(before), await named(null)]).toEqual([['Harbour Ferries'], ['Northern Rail']]);
});

test('certificates are listed with the retirement of now or of an instant, and without one that is unknown', async () => {
  const mirror = await openFilledMirror({ organizations: 1 });
  const { reader, clock, read } = mirror;
  await writeCertificate(mirror, 'r-1-0');
  const before = new Date(clock.at).toISOString();
  clock.at += 1_000;
  await read('retirements', [retirement('r-1-0', { beneficiary: 'Northern Rail' })]);
  const certificates = ['r-1-0', 'nothing'].map(id => ({
    organization_id: 'organization-1',
    retirement_id: id,
  }));
  const named = async (at: string | null) =>
    (await addRetirements(reader, certificates, at)).map(row => [row['beneficiary'], row['amount_exact']]);
  const unknown = [null, null];
  expect(await named(null)).toEqual([['Northern Rail', '12.5'], unknown]);
  expect(await named(before)).toEqual([['Harbour Ferries', '12.5'], unknown]);
  expect(await named('2020-01-01T00:00:00.000Z')).toEqual([unknown, unknown]);
  expect(await addRetirements(reader, [], null)).toEqual([]);
});

test('a certificate file is found by the row that names it', async () => {
  const mirror = await openFilledMirror({ organizations: 1 });
  await writeCertificate(mirror, 'r-1-0');
  const files = await readStoredFiles(mirror.reader);
  expect(files).toEqual([
    { file: expect.stringMatching(/^r-1-0-[0-9a-f]+\.pdf$/), sha256: expect.any(String), size: 40 },
  ]);
  expect(await isFileReferenced(mirror.reader, files[0]?.file ?? '')).toBe(true);
  expect(await isFileReferenced(mirror.reader, 'nothing.pdf')).toBe(false);
});

test('the coverage of an export names the lists that it was made from', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  const coverage = await readCoverage(reader, null);
  expect(coverage.map(each => [each.organization_id, each.resource, each.state])).toEqual([
    ['organization-1', 'certificates', expect.any(String)],
    ['organization-1', 'retirements', 'fresh'],
    ['organization-2', 'certificates', expect.any(String)],
    ['organization-2', 'retirements', 'fresh'],
  ]);
  const all = await readCoverage(reader, 'organization-1', null);
  expect(all.map(({ resource }) => resource)).toContain('warehouse');
});
