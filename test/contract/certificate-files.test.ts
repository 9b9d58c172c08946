import { describe, expect, test } from 'vitest';
import { verifyCertificateFiles } from '../../src/cli/certificate-files.js';
import { beginCertificateWalk, streamPdf } from '../support/certificates.js';
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
});
