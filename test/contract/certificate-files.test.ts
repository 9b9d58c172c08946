import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifyCertificateFiles } from '../../src/cli/certificate-files.js';
import { createExportFolder } from '../../src/cli/output/export-folder.js';
import { beginCertificateWalk, streamPdf } from '../support/certificates.js';
import { temporaryFolder } from '../support/folder.js';
import { ENGINES, TRAFFIC } from '../support/mirror/open.js';
import { retirements } from '../support/mirror/rows.js';

describe.each(ENGINES)('$name', ({ library }) => {
  test('every certificate file is compared with its row', async () => {
    const { stage, reader } = await library();
    const { clock, db, tampering: hands } = stage;
    await stage.read('retirements', retirements(4), { limit: 100, total: 4 });
    const walk = await beginCertificateWalk(stage);
    await walk.listDue(10);
    for (const { id } of retirements(4)) await walk.store(id, streamPdf(id), clock.at);
    await walk.finish(TRAFFIC);
    const verify = () => verifyCertificateFiles(reader, stage.pdfs(10_000));
    expect(await verify()).toEqual({ checked: 4, faults: [] });

    const files = await db.column<string>('SELECT file FROM certificates ORDER BY file');
    const [gone = '', changed = '', longer = ''] = files;
    await hands.remove(gone);
    await hands.put(changed, 'another', clock.at);
    await db.change('UPDATE certificates SET size = size + 1 WHERE file = ?', longer);
    const { checked, faults } = await verify();
    expect(checked).toBe(4);
    expect(Object.fromEntries(faults.map(({ file, fault }) => [file, fault]))).toEqual({
      [gone]: 'missing',
      [changed]: 'changed',
      [longer]: 'changed',
    });
  });

  test('an export has private files with their checksums, and no copy of a damaged PDF', async () => {
    const { stage } = await library();
    const pdfs = stage.pdfs(10_000);
    await pdfs.prepare();
    const { file, sha256 } = await pdfs.save('r-1', streamPdf('r-1'));
    const folder = temporaryFolder();
    const target = createExportFolder(folder, new AbortController().signal);
    for (const line of ['a\n', 'b\n']) target.append('list.csv', line);
    expect(await target.copyPdf(pdfs, file, 'pdf/whole.pdf', sha256)).toBe(true);
    expect(await target.copyPdf(pdfs, file, 'pdf/damaged.pdf', '0'.repeat(64))).toBe(false);
    expect(target.writeChecksums()).toBe(2);
    const listSha256 = createHash('sha256').update('a\nb\n').digest('hex');
    const sums = `${listSha256}  list.csv\n${sha256}  pdf/whole.pdf\n`;
    expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8')).toBe(sums);
    for (const name of ['list.csv', 'pdf/whole.pdf', 'SHA256SUMS'])
      expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
    expect(existsSync(join(folder, 'pdf/damaged.pdf'))).toBe(false);
    expect(() => createExportFolder(folder, new AbortController().signal)).toThrow('not an empty folder');
  });
});
