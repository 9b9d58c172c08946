import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.js';
import { OLD_WORDS, typedNow } from '../../src/cli/old-words.js';
import { runCommand } from '../support/command.js';

test('an old word that is typed is answered with the new one', async () => {
  const { exitCode, stderr } = await runCommand(['runs', 'list'], { env: {} });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("unknown command 'runs'");
  expect(stderr).toContain('"runs" is now "syncs".\n');
});

test('the answer goes by the command, by an option with its value and by a name in SQL, and by nothing else', () => {
  expect(typedNow(['--wide', 'runs'])).toEqual(['"runs" is now "syncs".']);
  expect(typedNow(['jobs', 'list', '--state=buried'])).toEqual(['"--state buried" is now "--state failed".']);
  expect(typedNow(['query', 'select sync_run_id from changes'])).toEqual(['"sync_run_id" is now "sync_id".']);
  expect(typedNow(['deliveries', 'tail'])).toEqual(['"deliveries tail" is now "deliveries list --limit 5".']);
  expect(typedNow(['search', 'runs'])).toEqual([]);
  expect(typedNow(['jobs', 'list', '--state', 'buriedly', 'my_sync_runs'])).toEqual([]);
});

test('no old word is said of another, and none is a command of today', () => {
  const old = OLD_WORDS.map(([was]) => was);
  expect(OLD_WORDS.filter(([, now]) => old.includes(now))).toEqual([]);
  expect(old.filter(was => Object.hasOwn(COMMANDS, was))).toEqual([]);
});
