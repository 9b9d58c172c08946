import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { getWalSize } from '../../../src/store/sqlite/measure-disk.js';
import { openDatabase } from '../../../src/store/sqlite/open-database.js';
import { startWatched } from '../../support/watched-program.js';

test('a heartbeat without news changes one row of the mirror', async () => {
  const scene = await startWatched();
  const file = join(scene.program.folder, 'mirror.db');
  const db = openDatabase(file, { busyTimeoutMs: 1000 });
  onTestFinished(() => void db.close());
  await scene.watch(true);
  db.pragma('wal_checkpoint(TRUNCATE)');
  await scene.pass(15);
  const page = Number(db.pragma('page_size', { simple: true }));
  const header = 32 + 24;
  expect(getWalSize(file)).toBe(header + page);
});
