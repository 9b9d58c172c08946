import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createReaderPool } from '../../../src/console/reader-pool.js';
import { runCommand } from '../../support/command.js';
import { temporaryFolder } from '../../support/folder.js';
import { openEngine } from '../../../src/store/open-engine.js';
import { visitConsole } from '../../support/console.js';
import { openForTest, createDatabase } from '../../support/postgres.js';

test('a console on PostgreSQL creates the folder for its key', async () => {
  const { url } = await createDatabase();
  const env = {
    MIRROR_DATABASE_URL: url,
    DATA_DIR: join(temporaryFolder(), 'not', 'yet'),
    CONSOLE_PORT: '0',
  };
  const started = await runCommand(['console'], { env, createInterruptSignal: () => AbortSignal.abort() });
  expect(started).toMatchObject({ exitCode: 0, stdout: '' });
  expect(await runCommand(['console', 'url'], { env })).toMatchObject({ exitCode: 0, stderr: '' });
});

test('concurrent pages, downloads and certificates share the four connections of the console', async () => {
  const database = await createDatabase();
  const { url } = database;
  const engine = openEngine({
    dataDir: temporaryFolder(),
    diskReserveMb: null,
    database: { url, queryUrl: null, pool: null },
  });
  const readers = createReaderPool(engine.openReader);
  onTestFinished(() => readers.close());
  const { pdfs, close } = await engine.openPdfs(Date.now);
  onTestFinished(close);
  const { open, faults } = await visitConsole(engine.openReader, { readers, now: Date.now });
  const files = Array.from({ length: 20 }, () => pdfs.open(`r-1-${'0'.repeat(64)}.pdf`));
  const paths = [
    '/',
    '/retirements',
    '/retirements.csv',
    '/deliveries',
    '/changes',
    '/search?q=ab',
    '/syncs',
  ];
  const answers = await Promise.all([...paths, ...paths, ...paths].map(open));
  expect(new Set(await Promise.all(files))).toEqual(new Set([null]));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const held = `SELECT count(*)::integer AS n FROM pg_stat_activity
    WHERE application_name LIKE 'carbon-mirror co%' AND datname = current_database()`;
  const [{ n } = { n: 0 }] = await openForTest(database, 1).query<{ n: number }>(held);
  expect(n).toBeGreaterThan(0);
  expect(n).toBeLessThanOrEqual(4);
  expect(faults).toEqual([]);
});
