import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { beginRead, MINUTE, type SqliteMirror, openMirror, TRAFFIC } from '../support/mirror/open.js';
import { createUnknownPage, retirement, retirements } from '../support/mirror/rows.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';

/** Reads two pages of retirements in ten minutes; the second page contains the retirement `late`. */
async function readSlowly({ mirror, clock }: SqliteMirror, late: string): Promise<void> {
  const read = await beginRead({ mirror, clock }, 'retirements', { trigger: 'schedule' });
  await read.writePage(createUnknownPage(retirements(3), clock.at + MINUTE));
  await read.writePage(createUnknownPage([retirement(late)], clock.at + 8 * MINUTE));
  clock.at += 10 * MINUTE;
  await read.finish({ ...TRAFFIC, total: 4, lookUpMissing: async () => new Map() });
  clock.at += 50 * MINUTE;
}

async function openAsOfScene() {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const scene = await openMirror({ folder });
  await readSlowly(scene, 'first');
  await readSlowly(scene, 'second');
  const runAsOf = (at: string, ...more: string[]) =>
    runCommand(['as-of', at, ...more], {
      env: { DATA_DIR: folder },
      now: () => scene.clock.at,
    });
  return { ...scene, ask: runAsOf };
}

test('as-of during a read shows the rows observed by then and reports the running read', async () => {
  const { ask } = await openAsOfScene();
  const early = await ask('2026-05-04T13:05:00Z');
  expect(early).toMatchObject({ exitCode: 0 });
  expect(early.stderr).toContain(
    'retirements: a read that started 2026-05-04T13:00:00.000Z was still running; rows it had not reached are left out.',
  );
  expect(early.stdout).toMatch(/^retirements as of 2026-05-04T13:05:00.000Z:\n/);
  expect(early.stderr).toContain(
    'retirements: The answer shows what was read until 2026-05-04T12:00:00.000Z; later changes may be missing.',
  );
  expect(early.stdout).toMatch(/\n\n4 retirements: [\d,.]+ t\n\n/);
  expect(early.stdout).toContain('first');
  expect(early.stdout).not.toContain('second');
  const lists = JSON.parse((await ask('2026-05-04T13:08:00Z', '--json')).stdout);
  expect(Object.keys(lists)).toEqual(expect.arrayContaining(['warehouse', 'inventory', 'retirements']));
  const { retirements: coverage } = lists;
  expect(coverage.gaps).toMatchObject([
    { code: 'read_running', started_at: '2026-05-04T13:00:00.000Z', ended_at: '2026-05-04T13:10:00.000Z' },
  ]);
  expect(coverage.rows.map(({ id }: { id: string }) => id)).toContain('second');
});

test('as-of fails for a list that was never read, even if no organization is known', async () => {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const { clock, read, db } = await openMirror({ folder });
  await read('retirements', []);
  for (const argv of [
    ['members', 'list', '--as-of', 'now'],
    ['retirements', 'list', '--as-of', 'now'],
    ['certificates', 'export', join(folder, 'export'), '--as-of', 'now'],
  ]) {
    const { exitCode, stdout, stderr } = await runCommand(argv, {
      env: { DATA_DIR: folder },
      now: () => clock.at,
    });
    expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toMatch(/never (been )?read/);
    for (const table of ['installations', 'resource_states']) await db.change(`DELETE FROM ${table}`);
  }
});

test('a date before the first complete read is refused with the dates that can be asked instead', async () => {
  const { folder, clock, ask } = await openAsOfScene();
  const run = (now: number, ...argv: string[]) =>
    runCommand(argv, { env: { DATA_DIR: folder }, now: () => now });
  const early = ['--as-of', '2025-12-31'];
  for (const argv of [
    ['retirements', 'list', ...early],
    ['retirements', 'totals', '--year', '2025', ...early],
    ['as-of', '2025-12-31'],
  ]) {
    const { exitCode, stdout, stderr } = await run(clock.at, ...argv);
    expect({ exitCode, stdout }, argv[0]).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toContain('\nThe earliest possible date is --as-of 2026-05-04T12:10:00.000Z.\n');
    expect(stderr).toContain(
      '\n"carbon-mirror retirements list --year 2025" lists the retirements of 2025 as they are known now.\n',
    );
  }
  const nextYear = await run(Date.parse('2027-02-01T12:00:00Z'), 'retirements', 'list', ...early);
  expect(nextYear.stderr).toContain('\nThe last year end can be asked: --as-of 2026-12-31.\n');
  expect((await ask('2026-05-04T12:10:00Z')).exitCode).toBe(0);
});

test('as-of a day, month or year means its last instant: it includes rows that ended with it and excludes rows that began after it', async () => {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  const { read, clock } = await openMirror({ folder });
  await read('retirements', [retirement('old')]);
  clock.at = Date.parse('2026-05-31T23:59:59.999Z');
  await read('retirements', [retirement('old'), retirement('last')], { claim: 2 });
  clock.at += 1;
  await read('retirements', [retirement('next')], { claim: 3 });
  clock.at += MINUTE;
  const ask = (...argv: string[]) => runCommand(argv, { env: { DATA_DIR: folder }, now: () => clock.at });
  const organizationOption = ['--organization', 'organization-1'];
  const next = /\bnext\b/;
  for (const span of ['2026-05-31', '2026-05', 'yesterday']) {
    const list = await ask('retirements', 'list', '--as-of', span);
    expect(list.stderr, span).toBe(
      `As observed by 2026-05-31T23:59:59.999Z.\nThe answer shows what was read until 2026-05-31T23:59:59.999Z; later changes may be missing.\n`,
    );
    const asOf = await ask('as-of', span, ...organizationOption);
    expect(asOf.stdout, span).toMatch(/^retirements as of 2026-05-31T23:59:59.999Z:/);
    for (const { stdout } of [list, asOf]) {
      expect(stdout, span).toMatch(/\bold\b[^]*\blast\b|\blast\b[^]*\bold\b/);
      expect(stdout, span).not.toMatch(next);
    }
  }
  for (const span of ['2026-06-01', '2026-06', '2026']) {
    const { stdout } = await ask('as-of', span, ...organizationOption);
    expect(stdout, span).toMatch(/^retirements as of 2026-06-01T00:01:00.000Z/);
    expect(stdout, span).toMatch(next);
    expect(stdout, span).not.toMatch(/\bold\b/);
  }
  for (const ahead of ['2026-06-02', '2026-07', '2027']) {
    expect(await ask('as-of', ahead, ...organizationOption)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(`${ahead} is in the future`),
    });
  }
});
