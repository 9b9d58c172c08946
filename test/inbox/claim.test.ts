import { describe, expect, test } from 'vitest';
import { type ClaimedJob, type NewJob, installationJob } from '../../src/inbox/job.js';
import { createInbox, type Inbox } from '../../src/inbox/inbox.js';
import { NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';

const LEASE_MS = 60_000;
const ERROR = { code: 'unavailable', message: 'answered 503' };

const inbox = (): Inbox => createInbox(temporaryInbox());
const claim = (box: Inbox, now = NOON, slots = 10): ClaimedJob[] =>
  box.claimJobs({ now, leaseMs: LEASE_MS, slots });

function claimOne(box: Inbox, now = NOON): ClaimedJob {
  const [held] = claim(box, now, 1);
  if (held === undefined) throw new Error('expected a job to claim');
  return held;
}

function job(installation: string, organization: string | null = null, more: Partial<NewJob> = {}): NewJob {
  return { ...installationJob(installation, organization, 'delivery'), ...more };
}

describe('a claim', () => {
  test('takes at most the free slots, and only what is due', () => {
    const box = inbox();
    for (const id of ['a', 'b', 'c']) box.enqueue(job(id), NOON);
    box.enqueue(job('later', null, { runAt: NOON + 1 }), NOON);
    expect(claim(box, NOON, 0)).toEqual([]);
    expect(claim(box, NOON, 2)).toHaveLength(2);
    expect(claim(box, NOON, 2)).toHaveLength(1);
    expect(claim(box, NOON, 2)).toEqual([]);
    expect(claim(box, NOON + 1, 2)).toMatchObject([{ installationId: 'later' }]);
  });

  test('carries a number that rises over all jobs, and counts the attempt', () => {
    const box = inbox();
    for (const id of ['a', 'b', 'c']) box.enqueue(job(id), NOON);
    expect(claim(box, NOON, 2).map(held => held.claim)).toEqual([1, 2]);
    expect(claim(box, NOON, 2)).toMatchObject([{ claim: 3, attempts: 1 }]);
    expect(claim(box, NOON + LEASE_MS).map(held => [held.claim, held.attempts])).toEqual([
      [4, 2],
      [5, 2],
      [6, 2],
    ]);
  });

  test('starts above what mirror.db has seen, after an inbox.db was restored', () => {
    const box = inbox();
    box.raiseClaims(41);
    box.raiseClaims(7);
    box.enqueue(job('a'), NOON);
    expect(claimOne(box).claim).toBe(42);
  });

  test('a number that is taken for other work is above every other and is not given out again', () => {
    const box = inbox();
    expect(box.takeClaim(41)).toBe(42);
    expect(box.takeClaim(7)).toBe(43);
    box.enqueue(job('a'), NOON);
    expect(claimOne(box).claim).toBe(44);
  });

  test('never doubles an installation or an organization in a lane, within one claim or across two', () => {
    const box = inbox();
    box.enqueue(job('old', 'acme'), NOON);
    box.enqueue(job('new', 'acme'), NOON);
    box.enqueue(job('old', 'acme', { dedupeKey: 'second:old' }), NOON);
    box.enqueue(job('new', null, { dedupeKey: 'third:new' }), NOON);
    box.enqueue(job('other', 'other'), NOON);
    const first = claim(box);
    expect(new Set(first.map(held => held.installationId))).toEqual(new Set(['old', 'other']));
    expect(first).toHaveLength(2);
    expect(claim(box)).toEqual([]);
    box.enqueue(job('old', 'acme', { dedupeKey: 'pdf', lane: 'certificates' }), NOON);
    expect(claim(box)).toMatchObject([{ lane: 'certificates' }]);
    for (const held of first) box.finishJob(held, 'read', NOON);
    expect(claim(box)).toHaveLength(1);
  });

  test('is given to jobs of no installation beside all others', () => {
    const box = inbox();
    const tick = (key: string): NewJob => ({ kind: 'tick', dedupeKey: key, trigger: 'schedule' });
    box.enqueue(tick('one'), NOON);
    box.enqueue(tick('two'), NOON);
    expect(claim(box)).toHaveLength(2);
  });

  test('can be kept to some lanes', () => {
    const box = inbox();
    box.enqueue(job('a'), NOON);
    box.enqueue(job('a', null, { dedupeKey: 'pdf', lane: 'certificates' }), NOON);
    const lanes = ['certificates'] as const;
    expect(box.claimJobs({ now: NOON, leaseMs: LEASE_MS, slots: 5, lanes })).toMatchObject([
      { lane: 'certificates' },
    ]);
  });

  test('is fair: the installation that was not read for longest comes first', () => {
    const box = inbox();
    const order: (string | null)[] = [];
    for (let round = 0; round < 30; round += 1) {
      const now = NOON + round * 2000;
      for (let part = 0; part < 5; part += 1) {
        box.enqueue(job('huge', null, { dedupeKey: `huge:${part}` }), now);
      }
      box.enqueue(job('small'), now);
      const held = claimOne(box, now + 1000);
      order.push(held.installationId);
      box.finishJob(held, 'read', now + 1500);
    }
    expect(order.filter(id => id === 'small')).toHaveLength(15);
  });

  test('leaves nobody waiting among 1,000 installations', () => {
    const box = inbox();
    for (let index = 0; index < 1000; index += 1) box.enqueue(job(`installation-${index}`), NOON);
    const seen = new Set<string | null>();
    for (let round = 0; round < 250; round += 1) {
      for (const held of claim(box, NOON + round, 4)) {
        seen.add(held.installationId);
        box.finishJob(held, 'read', NOON + round);
      }
    }
    expect(seen.size).toBe(1000);
  });

  test('T63 is given to one of several workers only', () => {
    const folder = temporaryFolder();
    const workers = Array.from({ length: 4 }, () => createInbox(temporaryInbox(folder)));
    for (let index = 0; index < 40; index += 1) workers[0]?.enqueue(job(`installation-${index}`), NOON);
    const claimed = workers.flatMap(worker => claim(worker, NOON, 15));
    expect(claimed).toHaveLength(40);
    expect(new Set(claimed.map(held => held.id)).size).toBe(40);
    expect(new Set(claimed.map(held => held.claim)).size).toBe(40);
  });
});

describe('a lease', () => {
  test('that a clock which was ahead has given holds no longer than one of now, after the next claim', () => {
    const box = inbox();
    box.enqueue(job('a', 'acme'), NOON);
    const held = claimOne(box, NOON + 24 * 3_600_000);
    box.enqueue(job('b', 'other'), NOON);
    claimOne(box, NOON);
    expect(claim(box, NOON + LEASE_MS - 1)).toEqual([]);
    expect(claim(box, NOON + LEASE_MS).map(({ id }) => id)).toContain(held.id);
  });

  test('T61 that runs out gives the job to another, and the first can do nothing more with it', () => {
    const box = inbox();
    box.enqueue(job('a', 'acme'), NOON);
    const first = claimOne(box);
    expect(claim(box, NOON + LEASE_MS - 1)).toEqual([]);
    const second = claimOne(box, NOON + LEASE_MS);
    expect(second).toMatchObject({ id: first.id, claim: first.claim + 1 });
    const now = NOON + LEASE_MS + 1;
    expect(box.renewClaim(first, now + LEASE_MS)).toBe(false);
    expect(box.finishJob(first, 'read', now)).toBe(false);
    expect(box.retryJob(first, now, ERROR, now)).toBe(false);
    expect(box.parkJob(first, now, ERROR, now)).toBe(false);
    expect(box.buryJob(first, ERROR, now)).toBe(false);
    expect(box.bindOrganization(first, 'acme', now)).toBe(false);
    expect(box.findJob(first.id)).toMatchObject({ state: 'claimed', claim: second.claim, last_error: null });
    expect(box.finishJob(second, 'read', now)).toBe(true);
    expect(box.finishJob(second, 'read', now)).toBe(false);
  });

  test('that is renewed keeps the job', () => {
    const box = inbox();
    box.enqueue(job('a'), NOON);
    const held = claimOne(box);
    expect(box.renewClaim(held, NOON + 2 * LEASE_MS)).toBe(true);
    expect(claim(box, NOON + LEASE_MS + 1)).toEqual([]);
  });

  test('that ran out is taken over before a waiting job of the same installation is started', () => {
    const box = inbox();
    box.enqueue(job('a', 'acme'), NOON);
    const lost = claimOne(box);
    box.enqueue(job('a', 'acme'), NOON + 10);
    box.enqueue(job('re-installed', 'acme'), NOON + 10);
    const taken = claim(box, NOON + LEASE_MS);
    expect(taken).toMatchObject([{ id: lost.id }]);
    expect(box.renewClaim(lost, NOON + 3 * LEASE_MS)).toBe(false);
  });

  test('T64 a job whose process never comes back is buried after ten claims, with a reason', () => {
    const box = inbox();
    const id = box.enqueue(job('a'), NOON);
    let now = NOON;
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      expect(claimOne(box, now)).toMatchObject({ id, attempts: attempt });
      now += LEASE_MS;
    }
    expect(claim(box, now)).toEqual([]);
    expect(box.findJob(id)).toMatchObject({
      state: 'buried',
      last_error_code: 'never_finished',
      last_error: 'claimed 10 times, and its process never came back from it',
      finished_at: new Date(now).toISOString(),
    });
    expect(box.retryBuried(id, now)).toBe(id);
    expect(claimOne(box, now)).toMatchObject({ id, attempts: 1 });
  });
});

describe('an organization that becomes known', () => {
  test('is noted, unless it is being read already', () => {
    const box = inbox();
    box.enqueue(job('old', 'acme'), NOON);
    box.enqueue(job('new'), NOON);
    const [first, second] = claim(box);
    if (first === undefined || second === undefined) throw new Error('expected two claims');
    const unknown = first.organizationId === null ? first : second;
    expect(box.bindOrganization(unknown, 'acme', NOON)).toBe(false);
    expect(box.bindOrganization(unknown, 'other', NOON)).toBe(true);
    expect(box.findJob(unknown.id)).toMatchObject({ organization_id: 'other' });
    box.finishJob(unknown, 'read', NOON);
    box.enqueue(job('new'), NOON + 1);
    expect(claimOne(box, NOON + 2000)).toMatchObject({ installationId: 'new', organizationId: 'other' });
  });
});
