import { expect, test } from 'vitest';
import { type Attempt, lostMs } from '../../src/sync/worker/lost-time.js';
import { startInstalled } from '../support/installed.js';

const good = (from: number, to: number): Attempt => ({ from, to, code: null });
const failed = (from: number, to: number): Attempt => ({ from, to, code: 'timeout' });

test.each<[string, number, Attempt[]]>([
  ['nothing where all was answered', 0, [good(0, 10), good(10, 20)]],
  ['a time-out and the pause after it', 35, [good(0, 10), failed(10, 40), good(45, 50)]],
  ['two time-outs of one call', 70, [failed(0, 30), failed(35, 65), good(70, 80)]],
  [
    'time-outs that were waited for at once, once',
    40,
    [failed(0, 30), failed(10, 40), good(40, 50), good(40, 60)],
  ],
  ['no pause while other pages come', 31, [failed(0, 30), good(5, 35), good(31, 40), good(60, 70)]],
  ['a time-out at the very end', 30, [good(0, 10), failed(10, 40)]],
  ['nothing of what is refused for good', 0, [{ from: 0, to: 10, code: 'not_found' }, good(20, 30)]],
])('what is lost is %s', (_name, expected, attempts) => {
  expect(lostMs(attempts)).toBe(expected);
  expect(lostMs(attempts.toReversed())).toBe(expected);
});

test('an answer that never came does not make the schedule rest, though the read took the longer for it', async () => {
  const { program, organizationId, calls } = await startInstalled({
    http: { deadlineMs: 2000, attempts: 2 },
  });
  const { faults } = program.registry;
  const fault = faults.add({
    path: `/organizations/${organizationId}/retirements`,
    kind: 'silence',
    count: 1,
  });
  await program.reconcile();
  faults.remove(fault.id);
  const [longest] = await program.rows(
    `SELECT max(unixepoch(finished_at, 'subsec') - unixepoch(started_at, 'subsec')) AS seconds FROM sync_runs
     WHERE resource = 'retirements'`,
  );
  expect(Object(longest)['seconds']).toBeGreaterThanOrEqual(2);
  const before = calls('/retirements');
  await program.reconcile(10_000);
  expect(calls('/retirements')).toBe(before + 1);
});
