import { join } from 'node:path';
import { expect, test } from 'vitest';
import { migrateFile } from '../../src/store/sqlite/migrate.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/inbox.js';
import { MINUTE, openMirror } from '../support/mirror/open.js';
import { retirement } from '../support/mirror/rows.js';

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test('the state of 31 December is provable in April: its rows, the sync that observed them and the syncs that wrote them', async () => {
  const folder = temporaryFolder();
  migrateFile(join(folder, 'inbox.db'), 'inbox', '2025-12-01T00:00:00.000Z');
  const { mirror, clock, read } = await openMirror({ folder });
  const before = retirement('r-1', { beneficiary: 'Harbour Ferries' });
  const after = retirement('r-1', { beneficiary: 'Somebody Else' });
  clock.at = Date.parse('2025-12-15T02:00:00.000Z');
  for (; clock.at < Date.parse('2026-01-10T00:00:00.000Z'); clock.at += 4 * HOUR) {
    const isNewYear = clock.at > Date.parse('2026-01-01T00:00:00.000Z');
    await read('retirements', isNewYear ? [after, retirement('r-2')] : [before]);
  }
  clock.at = Date.parse('2026-04-20T00:00:00.000Z');
  expect(await mirror.pruneSyncs(clock.at - 90 * DAY)).toBeGreaterThan(100);

  const run = async (...argv: string[]) => {
    const { exitCode, stdout } = await runCommand([...argv, '--json'], {
      env: { DATA_DIR: folder },
      now: () => clock.at,
    });
    expect(exitCode).toBe(0);
    return JSON.parse(stdout);
  };
  const asOf = await run('as-of', '2025-12-31');
  expect(asOf.retirements.rows).toMatchObject([{ id: 'r-1', beneficiary: 'Harbour Ferries' }]);
  expect(JSON.stringify(asOf.retirements)).toContain('2025-12-31T22:00:00.000Z');
  const { versions } = await run('retirements', 'show', 'r-1');
  expect(versions).toHaveLength(2);
  const wrote = new Set(versions.map((version: { sync_id: number }) => version.sync_id));
  const runs = await run('query', `select id from syncs where id in (${[...wrote].join(', ')})`);
  expect(runs).toHaveLength(2);
});
