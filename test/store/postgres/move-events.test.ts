import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/exit.js';
import { openEngine } from '../../../src/store/open-engine.js';
import { readStoreSettings } from '../../../src/app/config/read-settings.js';
import { runCommand } from '../../support/command.js';
import { openEvents } from '../../support/events.js';
import { createMigratedDatabases } from '../../support/migrated-databases.js';
import { fillOrganizations, openMirror } from '../../support/mirror/open.js';
import { createDatabase } from '../../support/postgres.js';

test('T103 subscriptions that are moved to PostgreSQL continue in a new epoch, after they were told', async () => {
  const mirror = await openMirror();
  const { folder, clock } = mirror;
  clock.at = Date.now();
  createMigratedDatabases(folder);
  await fillOrganizations(mirror, 2);
  const files = openEngine({ dataDir: folder, database: null, diskReserveMb: 0 });
  const reader = await files.openReader();
  const here = await openEvents({ env: { DATA_DIR: folder }, reader, clock });
  const { id, epoch } = await here.subscribe({ types: ['credit.changed'] });
  await here.send();
  const before = await here.find(id);
  expect(before.delivered).toBe(3);
  await reader.close();
  await here.port.close();
  mirror.handle.close();

  const { url } = await createDatabase();
  const env = { MIRROR_DATABASE_URL: url, DATA_DIR: join(folder, 'none') };
  const moved = await runCommand(['move', '--to', 'postgres'], { env: { ...env, DATA_DIR: folder } });
  expect(moved, moved.stderr).toMatchObject({ exitCode: EXIT.ok });
  const theirs = await openEngine(readStoreSettings(env)).openReader();
  const there = await openEvents({ env, reader: theirs, clock });
  expect(await there.find(id)).toMatchObject({ change_cursor: before.change_cursor, delivered: 3, epoch });
  await there.send();
  await there.send();
  expect(here.receiver.accepted.slice(3)).toMatchObject([
    { type: 'mirror.restored', data: { reason: 'moved', newest_change: expect.any(Number) } },
  ]);
  const after = await there.find(id);
  expect(after.epoch).not.toBe(epoch);
  await theirs.close();
});
