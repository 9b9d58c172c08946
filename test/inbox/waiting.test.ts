import { describe, expect, test } from 'vitest';
import { installationJob } from '../../src/inbox/job.js';
import { createInbox } from '../../src/inbox/inbox.js';
import { NOON, temporaryInbox } from '../support/inbox.js';

const LEASE = { leaseMs: 60_000, slots: 4 };

function claimOne(box: ReturnType<typeof createInbox>, now: number) {
  const [held] = box.claimJobs({ ...LEASE, now });
  if (held === undefined) throw new Error('nothing was claimed');
  return held;
}

describe('what a worker asks between two claims', () => {
  test('a due job is claimable, one behind a live claim of its installation is not', () => {
    const box = createInbox(temporaryInbox());
    expect(box.hasClaimable('data', NOON)).toBe(false);
    box.enqueue(installationJob('i1', null, 'delivery'), NOON);
    expect(box.hasClaimable('data', NOON)).toBe(true);
    expect(box.hasClaimable('certificates', NOON)).toBe(false);
    claimOne(box, NOON);
    box.enqueue(installationJob('i1', null, 'delivery'), NOON);
    expect(box.hasClaimable('data', NOON + 5000)).toBe(false);
    expect(box.hasClaimable('data', NOON + 60_000)).toBe(true);
  });

  test('the next change is the next start or the end of a lease, and never lies behind', () => {
    const box = createInbox(temporaryInbox());
    expect(box.nextChangeAt(NOON)).toBeNull();
    box.enqueue(installationJob('i1', null, 'delivery'), NOON);
    expect(box.nextChangeAt(NOON)).toBeNull();
    claimOne(box, NOON);
    expect(box.nextChangeAt(NOON)).toBe(NOON + 60_000);
    box.enqueue({ ...installationJob('i2', null, 'schedule'), runAt: NOON + 5000 }, NOON);
    expect(box.nextChangeAt(NOON)).toBe(NOON + 5000);
  });
});

describe('a job that is given back', () => {
  test('resumes at once, and the attempt does not count', () => {
    const box = createInbox(temporaryInbox());
    box.enqueue(installationJob('i1', null, 'delivery'), NOON);
    for (let restart = 0; restart < 30; restart++) {
      expect(box.giveBackJob(claimOne(box, NOON), NOON, NOON)).toBe(true);
    }
    expect(claimOne(box, NOON)).toMatchObject({ attempts: 1 });
  });

  test('is merged with one that waits, which then asks for what both wanted', () => {
    const box = createInbox(temporaryInbox());
    const job = installationJob('i1', null, 'person');
    const first = box.enqueue({ ...job, payload: { full: true } }, NOON);
    const held = claimOne(box, NOON);
    const second = box.enqueue(job, NOON);
    expect(box.giveBackJob(held, NOON, NOON)).toBe(true);
    expect(box.findJob(first)).toMatchObject({ state: 'done', outcome: 'merged', merged_into: second });
    expect(JSON.parse(box.findJob(second)?.payload ?? '')).toEqual({ full: true });
  });

  test('stays with whoever holds it now', () => {
    const box = createInbox(temporaryInbox());
    box.enqueue(installationJob('i1', null, 'delivery'), NOON);
    const lost = claimOne(box, NOON);
    claimOne(box, NOON + 60_000);
    expect(box.giveBackJob(lost, NOON + 60_000, NOON + 60_000)).toBe(false);
  });
});

test('what was asked for once is not asked for again, even after it is done', () => {
  const box = createInbox(temporaryInbox());
  const tick = { kind: 'tick', dedupeKey: 'tick:2026-05-04T12:00:00.000Z', trigger: 'schedule' };
  expect(box.enqueueOnce(tick, NOON)).not.toBeNull();
  expect(box.enqueueOnce(tick, NOON)).toBeNull();
  box.finishJob(claimOne(box, NOON), 'done', NOON);
  expect(box.enqueueOnce(tick, NOON)).toBeNull();
});
