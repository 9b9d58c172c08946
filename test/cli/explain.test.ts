import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCertificateStore } from '../../src/mirror/certificates/certificate-store.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { beginRead, MINUTE, type SqliteMirror, TRAFFIC, openMirror } from '../support/mirror/open.js';
import { retirement } from '../support/mirror/rows.js';

async function sceneToAsk() {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const scene = await openMirror({ folder });
  const ask = (noun: string, ...words: string[]) =>
    runCommand([noun, 'show', ...words], { env: { DATA_DIR: folder }, now: () => scene.clock.at });
  const json = async (...words: string[]) =>
    JSON.parse((await ask('retirements', ...words, '--json')).stdout);
  return { ...scene, ask, json };
}

const AS_MADE = retirement('r-1');
const RENAMED = retirement('r-1', { beneficiary: 'Somebody Else' });

async function read(scene: SqliteMirror, ...rows: (typeof AS_MADE)[]): Promise<void> {
  await scene.read('retirements', rows, { limit: 10, total: rows.length, findGone: async () => [] });
  scene.clock.at += 10 * MINUTE;
}

/** At 12:00 and 12:10 as it was made, at 12:20 renamed. */
async function sceneOfThree() {
  const scene = await sceneToAsk();
  for (const row of [AS_MADE, AS_MADE, RENAMED]) await read(scene, row);
  return scene;
}

test('P16 a row is shown with the read that first showed it, the last that confirmed it, and the one that ended it', async () => {
  const { json, ask } = await sceneOfThree();
  const told = await json('r-1', '--as-of', '2026-05-04T12:15:00Z');
  expect(told).toMatchObject({
    row: { beneficiary: 'Harbour Ferries', valid_from: '2026-05-04T12:00:00.000Z' },
    document: AS_MADE.document,
    shown_by: { trigger: 'delivery', started_at: '2026-05-04T12:00:00.000Z', newest_delivery_id: null },
    last_seen_at: '2026-05-04T12:10:00.000Z',
    until: '2026-05-04T12:20:00.000Z',
    ended_by: { started_at: '2026-05-04T12:20:00.000Z' },
  });
  expect(told.versions).toMatchObject([{ beneficiary: 'Harbour Ferries' }]);
  expect(await json('r-1')).toMatchObject({
    row: { beneficiary: 'Somebody Else' },
    until: null,
    ended_by: null,
  });
  const { stdout } = await ask('retirements', 'r-1');
  expect(stdout).toContain('started 2026-05-04T12:20:00.000Z');
  expect(stdout).toContain('Triggered by delivery.');
  expect(stdout).toContain(
    'retirements: changes at the registry after 2026-05-04T12:20:00.000Z had not been read yet.',
  );
  expect(stdout).toContain(RENAMED.document);
  expect(stdout).toMatch(/\nVersions:\nvalid_from +valid_to +beneficiary/);
  expect((await json('r-1')).versions).toMatchObject([
    { beneficiary: 'Harbour Ferries', valid_to: '2026-05-04T12:20:00.000Z' },
    { beneficiary: 'Somebody Else', valid_to: null },
  ]);
});

test('before the first complete read it says what is known, and ends as a check does', async () => {
  const { ask } = await sceneOfThree();
  const early = await ask('retirements', 'r-1', '--as-of', '2026-05-01');
  expect(early.exitCode).toBe(3);
  expect(early.stdout).toContain(
    'retirements: not known before 2026-05-04T12:00:00.000Z, the end of the first complete read',
  );
  expect(early.stdout).toContain('1 of the retirements listed today have an earlier date.');
  expect(await ask('retirements', 'r-9')).toMatchObject({ exitCode: 6 });
});

test('as of before the mirror began a row is shown with when it was first seen, how the registry dates it and what is not known', async () => {
  const { ask, json } = await sceneOfThree();
  const said =
    'First observed 2026-05-04T12:00:00.000Z. Earlier history is unknown. ' +
    'Dated by the registry: 2026-03-01T10:00:00.000Z.';
  const early = await ask('retirements', 'r-1', '--as-of', '2026-04');
  expect(early.stdout).toContain('The mirror had not observed it by 2026-04-30T23:59:59.999Z.');
  expect(early.stdout).toContain(said);
  expect(early.stdout).not.toContain('no longer on record');
  expect(await json('r-1', '--as-of', '2026-04')).toMatchObject({
    row: null,
    first_seen_at: '2026-05-04T12:00:00.000Z',
    dated_at: '2026-03-01T10:00:00.000Z',
  });
  expect((await ask('retirements', 'r-1')).stdout).toContain(said);
  expect((await ask('installations', 'installation-1')).stdout).toContain(
    'First observed 2026-05-04T12:00:00.000Z. Earlier history is unknown.',
  );
});

test('of a row that is gone it is said when it was no longer listed, and not that it was never seen', async () => {
  const scene = await sceneOfThree();
  scene.clock.at += MINUTE;
  await scene.read('retirements', [retirement('r-2')], { limit: 10, total: 1, findGone: async ids => ids });
  const { stdout } = await scene.ask('retirements', 'r-1');
  expect(stdout).toContain('It was no longer listed at 2026-05-04T');
  expect(stdout).toContain('First observed 2026-05-04T12:00:00.000Z.');
  expect(stdout).not.toContain('had not observed it');
});

test('a read that broke is named as what may have missed changes', async () => {
  const scene = await sceneOfThree();
  const begun = await beginRead(scene, 'retirements', { trigger: 'schedule' });
  await begun.abandon({ code: 'timeout', message: 'no answer' }, TRAFFIC);
  const told = await scene.json('r-1');
  expect(told.not_known.join(' ')).toMatch(/started 2026-05-04T12:30:00.000Z was \w+ \(no answer\)/);
});

test('the certificate is shown by its hash, and whether its file is still that one', async () => {
  const scene = await sceneOfThree();
  const files = scene.pdfs(1000);
  await files.prepare();
  const store = createCertificateStore(scene.port, files, () => scene.clock.at);
  await store.makeNewDue();
  const request = { organizationId: 'organization-1', claim: 1, trigger: 'schedule' };
  const walk = await store.beginWalk({ ...request, startedAt: scene.clock.at });
  await walk.store('r-1', pdf(), scene.clock.at);
  await walk.finish(TRAFFIC);
  const certificate = async () => (await scene.json('r-1')).certificate;
  expect(await certificate()).toMatchObject({
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    state: 'as it was stored',
  });
  const folder = join(scene.folder, 'certificates');
  const [name = ''] = readdirSync(folder).filter(file => file.endsWith('.pdf'));
  writeFileSync(join(folder, name), 'something else');
  expect(await certificate()).toMatchObject({ state: 'changed' });
});

async function* pdf(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('%PDF-1.7\n%%EOF\n');
}
