import { describe, expect, test } from 'vitest';
import { createCertificateStore } from '../../src/mirror/certificates/certificate-store.js';
import { type TestEngine, ENGINES, type TestMirror, MINUTE, TRAFFIC } from '../support/mirror/open.js';
import { retirement, retirements } from '../support/mirror/rows.js';
import type { CertificateSession } from '../../src/mirror/mirror.js';
import { listPdfNames, readPdfText } from '../support/pdfs.js';

const DAY = 24 * 60 * MINUTE;

async function* streamChunks(...chunks: string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const createPdf = (words: string) => streamChunks('%P', 'DF-1.7 ', words, '\n%%E', 'OF\n');

async function createCertificateScene(stage: TestEngine['stage'], maxBytes = 10_000) {
  const scene = await stage();
  const pdfs = scene.pdfs(maxBytes);
  await pdfs.prepare();
  const store = createCertificateStore(scene.port, pdfs, () => scene.clock.at);
  const begin = async (claim = 1) => {
    const request = { organizationId: 'organization-1', claim, startedAt: scene.clock.at };
    const walk = await store.beginSession({ ...request, trigger: 'schedule' });
    await walk.listDue(2_000);
    return walk;
  };
  const names = () => listPdfNames(pdfs);
  return { ...scene, pdfs, names, store, begin };
}

async function storeOne(
  scene: Awaited<ReturnType<typeof createCertificateScene>>,
  words: string,
): Promise<void> {
  const walk = await scene.begin();
  await walk.store('r-1', createPdf(words), scene.clock.at);
  await walk.finish(TRAFFIC);
}

async function storeAgain(scene: Awaited<ReturnType<typeof createCertificateScene>>): Promise<void> {
  await scene.store.makeNewDue();
  await storeOne(scene, 'hello');
}

const readCertificateRow = ({ db }: Pick<TestMirror, 'db'>, id = 'r-1') =>
  db.row('SELECT state, file, size, attempts, error, due_at FROM certificates WHERE retirement_id = ?', id);

describe.each(ENGINES)('$name', ({ stage }) => {
  test('the certificate of a retirement is due at once, and again after the retirement changed', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', retirements(1_200), { limit: 100, total: 1_200 });
    expect(await scene.db.value('SELECT count(*) FROM certificates_missing')).toBe(1_200);
    expect(await scene.store.makeNewDue()).toBe(1_200);
    expect(await scene.store.makeNewDue()).toBe(0);
    expect(await scene.db.value('SELECT count(*) FROM certificates_missing')).toBe(1_200);
    const walk = await scene.begin();
    expect(await walk.listDue(5_000)).toHaveLength(1_200);
    await walk.store('r-00000', createPdf('one'), scene.clock.at);
    expect(await walk.listDue(5_000)).toHaveLength(1_199);
    scene.clock.at += MINUTE;
    const changed = [retirement('r-00000', { comment: 'claimed' }), ...retirements(1_200).slice(1)];
    await scene.read('retirements', changed, { limit: 100, total: 1_200 });
    expect(await scene.store.makeNewDue()).toBe(1);
    expect(await walk.listDue(5_000)).toHaveLength(1_200);
    expect(await scene.db.rows('SELECT state, certificates FROM certificate_sums ORDER BY 1')).toEqual([
      { state: 'pending', certificates: 1_199 },
      { state: 'stored', certificates: 1 },
    ]);
  });

  test('certificates requested by a clock that was ahead are due again once it is set back', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', [retirement('r-1')]);
    scene.clock.at += DAY;
    await storeAgain(scene);
    await scene.read('retirements', [retirement('r-1'), retirement('r-2')]);
    await scene.store.makeNewDue();
    scene.clock.at -= DAY;
    const walk = await scene.begin();
    expect((await walk.listDue(10)).map(({ retirementId }) => retirementId)).toEqual(['r-1', 'r-2']);
  });

  test('a certificate is dated by the end of its download, even if its retirement was closed earlier', async () => {
    const scene = await createCertificateScene(stage);
    const { clock, db } = scene;
    await scene.read('retirements', [retirement('r-1'), retirement('r-2')]);
    await scene.store.makeNewDue();
    const walk = await scene.begin();
    const requestedAt = clock.at;
    async function* slowly() {
      yield* createPdf('hello');
      clock.at += 10 * MINUTE;
    }
    await walk.store('r-1', slowly(), requestedAt);
    await walk.finish(TRAFFIC);
    clock.at -= 5 * MINUTE;
    await scene.read('retirements', [retirement('r-2')], { findGone: async ids => ids });
    const dates = await db.rows(
      'SELECT fetched_at, valid_from, valid_to FROM certificates_history WHERE valid_to IS NOT NULL',
    );
    expect(dates.map(Object.values)).toEqual([
      ['2026-05-04T12:00:00.000Z', '2026-05-04T12:10:00.000Z', '2026-05-04T12:10:00.001Z'],
    ]);
    await scene.read('retirements', [retirement('r-1'), retirement('r-2')]);
    await storeAgain(scene);
    expect(await db.column("SELECT valid_from FROM certificates WHERE state = 'stored'")).toEqual([
      '2026-05-04T12:10:00.002Z',
    ]);
  });

  test('a certificate file is named by its retirement and its hash', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', [retirement('r-1')]);
    await scene.store.makeNewDue();
    const walk = await scene.begin();
    await walk.store('r-1', createPdf('hello'), scene.clock.at);
    expect(await walk.listDue(10)).toEqual([]);
    const [file = ''] = await scene.names();
    expect(file).toMatch(/^r-1-[0-9a-f]{64}\.pdf$/);
    expect(await readPdfText(scene.pdfs, file)).toBe('%PDF-1.7 hello\n%%EOF\n');
    expect(await readCertificateRow(scene)).toMatchObject({
      state: 'stored',
      file,
      size: 21,
      due_at: '2026-06-03T12:00:00.000Z',
    });
    expect(await walk.finish(TRAFFIC)).toBe('complete');
    expect(
      await scene.db.rows("SELECT state, rows_added, error FROM syncs WHERE resource = 'certificates'"),
    ).toEqual([{ state: 'complete', rows_added: 1, error: null }]);
  });

  describe('T50 a download that is not a whole PDF is not stored', () => {
    test.each([
      ['a web page', streamChunks('<html>login</html>'), 'certificate_not_pdf'],
      ['nothing', streamChunks(), 'certificate_empty'],
      ['empty chunks', streamChunks('', ''), 'certificate_empty'],
      ['a file cut short', streamChunks('%PDF-1.7 and then'), 'certificate_cut_short'],
      [
        'a marker too far from the end',
        streamChunks('%PDF-1.7 %%EOF', ' '.repeat(2_000)),
        'certificate_cut_short',
      ],
      ['more than the cap', streamChunks('%PDF-1.7', 'x'.repeat(10_000), '%%EOF'), 'certificate_too_large'],
    ])('%s', async (_, sent, code) => {
      const scene = await createCertificateScene(stage);
      await scene.read('retirements', [retirement('r-1')]);
      await scene.store.makeNewDue();
      const walk = await scene.begin();
      await expect(walk.store('r-1', sent, scene.clock.at)).rejects.toMatchObject({ code });
      expect(await scene.names()).toEqual([]);
      expect(await readCertificateRow(scene)).toMatchObject({ state: 'pending', file: null });
    });
  });

  test('T50 a later bad answer keeps the stored copy, records the fault and is retried', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', [retirement('r-1')]);
    await scene.store.makeNewDue();
    await storeOne(scene, 'good');
    scene.clock.at += 30 * DAY;
    const walk = await scene.begin();
    await expect(walk.store('r-1', streamChunks('<html>'), scene.clock.at)).rejects.toMatchObject({
      code: 'certificate_not_pdf',
    });
    await walk.markFailed('r-1', { code: 'certificate_not_pdf', message: 'a web page' }, scene.clock.at);
    expect(await walk.finish(TRAFFIC)).toBe('partial');
    expect(await scene.db.value('SELECT error FROM syncs ORDER BY id DESC')).toMatch(/^1 certificates /);
    expect(await readCertificateRow(scene)).toMatchObject({
      state: 'stored',
      error: 'certificate_not_pdf: a web page',
      due_at: '2026-06-03T12:05:00.000Z',
    });
    expect(await scene.names()).toHaveLength(1);
  });

  test('an interrupted download leaves no file', async () => {
    const scene = await createCertificateScene(stage);
    async function* broken() {
      yield Buffer.from('%PDF-1.7 ');
      throw new Error('cut');
    }
    await expect(scene.pdfs.save('r-1', broken())).rejects.toThrow('cut');
    expect(await scene.names()).toEqual([]);
  });

  test.each(['../../x', '..', 'a/b', '', 'a\0b', '.hidden'])(
    'T51 a file is never named by the id %j',
    async id => {
      const scene = await createCertificateScene(stage);
      await expect(scene.pdfs.save(id, createPdf('x'))).rejects.toThrow(TypeError);
      expect(await scene.names()).toEqual([]);
    },
  );

  test('T52 a changed certificate gets a second file and a second version', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', [retirement('r-1')]);
    await scene.store.makeNewDue();
    await storeOne(scene, 'unclaimed');
    scene.clock.at += MINUTE;
    await storeOne(scene, 'unclaimed');
    scene.clock.at += MINUTE;
    await storeOne(scene, 'claimed');
    const history = await scene.db.rows<{ file: string; valid_from: string; valid_to: string | null }>(
      'SELECT file, valid_from, valid_to FROM certificates_history ORDER BY version',
    );
    expect(history.map(({ valid_from, valid_to }) => [valid_from, valid_to])).toEqual([
      ['2026-05-04T12:00:00.000Z', '2026-05-04T12:02:00.000Z'],
      ['2026-05-04T12:02:00.000Z', null],
    ]);
    expect(await scene.names()).toEqual(history.map(({ file }) => file).toSorted());
  });

  test('T53 a certificate that does not exist yet is requested again after one day, then at growing intervals up to thirty days', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', [retirement('r-1')]);
    await scene.store.makeNewDue();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 7; attempt += 1) {
      const walk = await scene.begin();
      expect(await walk.listDue(10)).toHaveLength(1);
      await walk.markUnavailable('r-1', scene.clock.at);
      expect(await walk.listDue(10)).toEqual([]);
      expect(await walk.finish(TRAFFIC)).toBe('complete');
      const dueAt = Date.parse(String((await readCertificateRow(scene))?.['due_at']));
      waits.push((dueAt - scene.clock.at) / DAY);
      scene.clock.at = dueAt;
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30]);
    expect(await readCertificateRow(scene)).toMatchObject({ state: 'unavailable', error: null });
    expect(await scene.db.column('SELECT state FROM certificates_missing')).toEqual(['unavailable']);
  });

  test('the certificate of a closed retirement stays in the history, and its file on disk', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', [retirement('r-1'), retirement('r-2')]);
    await scene.store.makeNewDue();
    await storeOne(scene, 'x');
    scene.clock.at += MINUTE;
    await scene.read('retirements', [retirement('r-2')]);
    expect(
      await scene.db.rows(
        "SELECT retirement_id, valid_to IS NULL AS now FROM certificates_history WHERE state = 'stored'",
      ),
    ).toEqual([{ retirement_id: 'r-1', now: 0 }]);
    expect(await scene.db.value('SELECT sum(certificates) FROM certificate_sums')).toBe(1);
    expect(await scene.names()).toHaveLength(1);
    await storeOne(scene, 'late');
    await storeOne(scene, 'x');
    expect(await scene.names()).toHaveLength(1);
  });

  test('certificate rows share commits, and all are written when the walk ends or is abandoned', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', retirements(40), { limit: 100, total: 40 });
    await scene.store.makeNewDue();
    const walk = await scene.begin();
    const stored = () => scene.db.value("SELECT count(*) FROM certificates WHERE state = 'stored'");
    for (const { id } of retirements(20)) await walk.store(id, createPdf(id), scene.clock.at);
    expect(await stored()).toBe(16);
    await walk.abandon({ code: 'timeout', message: 'no answer' }, TRAFFIC);
    expect(await stored()).toBe(20);
  });

  test('files stored in parallel all get rows, even if a commit is in progress', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', retirements(100), { limit: 100, total: 100 });
    await scene.store.makeNewDue();
    const walk = await scene.begin();
    await Promise.all(retirements(100).map(({ id }) => walk.store(id, createPdf(id), scene.clock.at)));
    expect(await walk.finish(TRAFFIC)).toBe('complete');
    expect(await scene.db.value("SELECT count(*) FROM certificates WHERE state = 'stored'")).toBe(100);
  });

  test.each([
    ['no certificate', async (walk: CertificateSession, at: number) => await walk.markUnavailable('r-1', at)],
    [
      'a fault',
      async (walk: CertificateSession, at: number) =>
        await walk.markFailed('r-1', { code: 'x', message: 'y' }, at),
    ],
    ['a file', (walk: CertificateSession, at: number) => walk.store('r-1', createPdf('old'), at)],
  ])(
    'T52 after %s the certificate is still due if the retirement changed during the request',
    async (_name, answer) => {
      const scene = await createCertificateScene(stage);
      await scene.read('retirements', [retirement('r-1', { beneficiary: null })]);
      await scene.store.makeNewDue();
      const walk = await scene.begin();
      await scene.read('retirements', [retirement('r-1', { beneficiary: 'Grace' })]);
      await scene.store.makeNewDue();
      await answer(walk, scene.clock.at);
      expect(await walk.listDue(10)).toMatchObject([{ retirementId: 'r-1' }]);
      await walk.store('r-1', createPdf('new'), scene.clock.at);
      expect(await walk.listDue(10)).toEqual([]);
    },
  );

  test('only certificates whose latest request failed are made due at once', async () => {
    const scene = await createCertificateScene(stage);
    const ids = ['stored', 'unavailable', 'refused', 'refused-later'];
    await scene.read(
      'retirements',
      ids.map(id => retirement(id)),
    );
    await scene.store.makeNewDue();
    const refuse = (walk: CertificateSession, id: string) =>
      walk.markFailed(id, { code: 'forbidden', message: '403' }, scene.clock.at);
    const walk = await scene.begin();
    await walk.store('stored', createPdf('one'), scene.clock.at);
    await walk.markUnavailable('unavailable', scene.clock.at);
    await refuse(walk, 'refused');
    await walk.store('refused-later', createPdf('other'), scene.clock.at);
    await walk.finish(TRAFFIC);
    const later = await scene.begin();
    await refuse(later, 'refused-later');
    await later.finish(TRAFFIC);
    const next = await scene.begin();
    expect(await next.listDue(10)).toEqual([]);
    await scene.store.makeFailedDue('organization-1');
    const made = (await next.listDue(10)).map(({ retirementId }) => retirementId);
    expect(made.toSorted()).toEqual(['refused', 'refused-later']);
  });

  test('a full sync makes every certificate due again', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', [retirement('r-1'), retirement('r-2')]);
    await scene.store.makeNewDue();
    const walk = await scene.begin();
    await walk.store('r-1', createPdf('x'), scene.clock.at);
    await walk.markUnavailable('r-2', scene.clock.at);
    expect(await walk.listDue(10)).toEqual([]);
    await scene.store.makeAllDue('organization-1');
    const due = (await walk.listDue(10)).map(({ retirementId }) => retirementId);
    expect(due.toSorted()).toEqual(['r-1', 'r-2']);
  });

  test('T75 files without a row are removed, except recent ones, those of an earlier mirror and those of past rows', async () => {
    const scene = await createCertificateScene(stage);
    const nameOf = (id: string) => `${id}-${'0'.repeat(64)}.pdf`;
    const put = (name: string, writtenAt: number) => scene.tampering.put(name, '%PDF', writtenAt);
    const born = scene.clock.at;
    expect(await scene.store.removeOrphanFiles(new AbortController().signal)).toBe(0);
    await scene.mirror.checkOrigin({ baseUrl: 'http://127.0.0.1:1', appId: 'app-1' });
    await scene.read('retirements', [retirement('r-1')]);
    await storeAgain(scene);
    scene.clock.at += MINUTE;
    await storeOne(scene, 'changed');
    const named = await scene.names();
    expect(named).toHaveLength(2);
    for (const name of named) await scene.tampering.setWrittenAt(name, born);
    for (let each = 0; each < 150; each += 1) await put(nameOf(`killed-${each}`), born + MINUTE);
    await put('killed-000000000000.pdf', born + MINUTE);
    await put(nameOf('earlier'), born - MINUTE);
    await put(nameOf('young'), born + 2 * DAY);
    await put(`${nameOf('r-1')}.3f0c1a52-0000-4000-8000-000000000000.damaged`, born + MINUTE);
    await put('notes.pdf', born + MINUTE);
    const kept = [
      ...named,
      nameOf('earlier'),
      nameOf('young'),
      'notes.pdf',
      `${nameOf('r-1')}.3f0c1a52-0000-4000-8000-000000000000.damaged`,
    ];
    scene.clock.at = born + 2 * DAY + MINUTE;
    expect(await scene.store.removeOrphanFiles(AbortSignal.abort())).toBe(0);
    expect(await scene.store.removeOrphanFiles(new AbortController().signal)).toBe(151);
    expect(await scene.names()).toEqual(kept.toSorted());
  });

  test('T75 no row is written for a file that was removed meanwhile, and the certificate stays due', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', [retirement('r-1')]);
    await scene.store.makeNewDue();
    const walk = await scene.begin();
    await walk.store('r-1', createPdf('hello'), scene.clock.at);
    for (const file of await scene.names()) await scene.tampering.remove(file);
    expect(await walk.listDue(10)).toMatchObject([{ retirementId: 'r-1', state: 'pending' }]);
    await walk.store('r-1', createPdf('hello'), scene.clock.at);
    expect(await walk.finish(TRAFFIC)).toBe('complete');
    expect(await readCertificateRow(scene)).toMatchObject({
      state: 'stored',
      file: (await scene.names())[0],
    });
  });

  test('T75 files whose rows are refused are removed, unless another row references them', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', [retirement('r-1'), retirement('r-2')]);
    await storeAgain(scene);
    const named = await scene.names();
    const walk = await scene.begin();
    await walk.store('r-1', createPdf('hello'), scene.clock.at);
    await walk.store('r-2', createPdf('x'), scene.clock.at);
    await scene.mirror.raiseFence({ organizationId: 'organization-1', part: 'certificates', claim: 5 });
    await expect(walk.listDue(10)).rejects.toThrow('claim 1 was taken over by claim 5');
    expect(await scene.names()).toEqual(named);
  });

  test('T52 a damaged file is moved aside for the new download', async () => {
    const scene = await createCertificateScene(stage);
    const { pdfs, names } = scene;
    const { file } = await pdfs.save('r-1', createPdf('x'));
    await scene.tampering.put(file, 'damaged', scene.clock.at);
    await pdfs.save('r-1', createPdf('x'));
    expect(await readPdfText(pdfs, file)).toBe('%PDF-1.7 x\n%%EOF\n');
    const [aside = ''] = (await names()).filter(name => name !== file);
    expect(await readPdfText(pdfs, aside)).toBe('damaged');
    expect(await pdfs.save('r-1', createPdf('x'))).toMatchObject({ file });
    expect(await names()).toHaveLength(2);
  });

  test('opening a file that does not exist returns null, whatever its name', async () => {
    const { pdfs } = await createCertificateScene(stage);
    for (const file of ['r-1.pdf', '', '..', '../mirror.db', 'a\0b', `r-1-${'0'.repeat(64)}.pdf`])
      expect(await pdfs.open(file)).toBeNull();
  });

  test('T44 a certificate walk writes nothing after losing its claim or after an uninstall', async () => {
    const scene = await createCertificateScene(stage);
    await scene.read('retirements', [retirement('r-1')]);
    await scene.store.makeNewDue();
    const walk = await scene.begin(1);
    await scene.mirror.raiseFence({ organizationId: 'organization-1', part: 'certificates', claim: 2 });
    await walk.store('r-1', createPdf('x'), scene.clock.at);
    await expect(walk.finish(TRAFFIC)).rejects.toThrow(expect.objectContaining({ code: 'fenced' }));
    const newer = await scene.begin(2);
    const { clock, mirror } = scene;
    const when = { startedAt: clock.at, arrivedAt: clock.at };
    const leave = { installationId: 'installation-1', claim: 3, trigger: 'delivery', ...when };
    await mirror.writeInstallation({ ...leave, state: 'suspended' });
    await newer.store('r-1', createPdf('x'), clock.at);
    await expect(newer.listDue(1)).rejects.toThrow(expect.objectContaining({ code: 'not_active' }));
    expect(await readCertificateRow(scene)).toMatchObject({ state: 'pending' });
  });
});
