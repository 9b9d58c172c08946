import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { MINUTE, type SqliteMirror, openMirror } from '../support/mirror/open.js';
import { retirement } from '../support/mirror/rows.js';

async function createScene() {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const scene = await openMirror({ folder });
  const show = (noun: string, ...argv: string[]) =>
    runCommand([noun, 'show', ...argv], { env: { DATA_DIR: folder }, now: () => scene.clock.at });
  const showJson = async (...argv: string[]) =>
    JSON.parse((await show('retirements', ...argv, '--json')).stdout);
  return { ...scene, show, showJson };
}

const ORIGINAL = retirement('r-1');
const RENAMED = retirement('r-1', { beneficiary: 'Somebody Else' });

async function read(scene: SqliteMirror, ...rows: (typeof ORIGINAL)[]): Promise<void> {
  await scene.read('retirements', rows, { limit: 10, total: rows.length, findGone: async () => [] });
  scene.clock.at += 10 * MINUTE;
}

/** The retirement is read unchanged at 12:00 and 12:10, and with a new beneficiary at 12:20. */
async function createSceneOfThreeReads() {
  const scene = await createScene();
  for (const row of [ORIGINAL, ORIGINAL, RENAMED]) await read(scene, row);
  return scene;
}

test('P16 show names the sync that first observed a row, the last that confirmed it, and the one that ended it', async () => {
  const { showJson, show } = await createSceneOfThreeReads();
  const result = await showJson('r-1', '--as-of', '2026-05-04T12:15:00Z');
  expect(result).toMatchObject({
    row: { beneficiary: 'Harbour Ferries', valid_from: '2026-05-04T12:00:00.000Z' },
    document: ORIGINAL.document,
    shown_by: { trigger: 'delivery', started_at: '2026-05-04T12:00:00.000Z', newest_delivery_id: null },
    last_seen_at: '2026-05-04T12:10:00.000Z',
    until: '2026-05-04T12:20:00.000Z',
    ended_by: { started_at: '2026-05-04T12:20:00.000Z' },
  });
  expect(result.versions).toMatchObject([{ beneficiary: 'Harbour Ferries' }]);
  expect(await showJson('r-1')).toMatchObject({
    row: { beneficiary: 'Somebody Else' },
    until: null,
    ended_by: null,
  });
  const { stdout } = await show('retirements', 'r-1');
  expect(stdout).toContain('started 2026-05-04T12:20:00.000Z');
  expect(stdout).toContain('Triggered by delivery.');
  expect(stdout).toContain(
    'retirements: changes at the registry after 2026-05-04T12:20:00.000Z had not been read yet.',
  );
  expect(stdout).toContain(RENAMED.document);
  expect(stdout).toMatch(/\nVersions:\nvalid_from +valid_to +beneficiary/);
  expect((await showJson('r-1')).versions).toMatchObject([
    { beneficiary: 'Harbour Ferries', valid_to: '2026-05-04T12:20:00.000Z' },
    { beneficiary: 'Somebody Else', valid_to: null },
  ]);
});

test('show exits with 3 for an instant before the first complete read and states what is known', async () => {
  const { show } = await createSceneOfThreeReads();
  const early = await show('retirements', 'r-1', '--as-of', '2026-05-01');
  expect(early.exitCode).toBe(3);
  expect(early.stdout).toContain(
    'retirements: not known before 2026-05-04T12:00:00.000Z, the end of the first complete read',
  );
  expect(early.stdout).toContain('1 of the retirements listed today have an earlier date.');
  expect(await show('retirements', 'r-9')).toMatchObject({ exitCode: 6 });
});
