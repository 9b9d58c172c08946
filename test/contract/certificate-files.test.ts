import { describe, expect, test } from 'vitest';
import { verifyCertificateFiles } from '../../src/cli/certificate-files.js';
import { createCertificateStore } from '../../src/mirror/certificates/certificate-store.js';
import { ENGINES, TRAFFIC } from '../support/mirror/open.js';
import { retirements } from '../support/mirror/rows.js';

async function* createPdf(words: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`%PDF-1.7 ${words}\n%%EOF\n`);
}

describe.each(ENGINES)('$name', ({ library }) => {
  test('every certificate file is compared with its row', async () => {
    const { stage, reader } = await library();
    const { clock, db, tampering: hands } = stage;
    const pdfs = stage.pdfs(10_000);
    await pdfs.prepare();
    const store = createCertificateStore(stage.port, pdfs, () => clock.at);
    await stage.read('retirements', retirements(4), { limit: 100, total: 4 });
    await store.makeNewDue();
    const request = { organizationId: 'organization-1', claim: 1, startedAt: clock.at, trigger: 'schedule' };
    const walk = await store.beginSession(request);
    await walk.listDue(10);
    for (const { id } of retirements(4)) await walk.store(id, createPdf(id), clock.at);
    await walk.finish(TRAFFIC);
    const verify = () => verifyCertificateFiles(reader, pdfs);
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
