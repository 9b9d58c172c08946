import { describe, expect, test } from 'vitest';
import { createInbox } from '../../src/inbox/inbox.js';
import { installationJob } from '../../src/inbox/job.js';
import { NOON, temporaryInbox } from '../support/inbox.js';

const LEASE = { leaseMs: 60_000, slots: 4 };
const ERROR = { code: 'unavailable', message: 'answered 503' };

function inbox() {
  return createInbox(temporaryInbox());
}

function job(id: string, organization: string | null = null) {
  return installationJob(`installation-${id}`, organization, 'delivery');
}

describe('enqueue', () => {
  test('a job is merged with a waiting one', () => {
    const box = inbox();
    const first = box.enqueue(job('1'), NOON);
    expect(box.enqueue(job('1'), NOON + 5)).toBe(first);
    expect(box.enqueue(job('2'), NOON)).not.toBe(first);
    expect(box.countJobs()).toMatchObject({ ready: 2 });
  });

  test('a job is never merged with a claimed one, and starts a second after it', () => {
    const box = inbox();
    const first = box.enqueue(job('1'), NOON);
    expect(box.claimJobs({ ...LEASE, now: NOON })).toMatchObject([{ id: first, claim: 1, attempts: 1 }]);
    const second = box.enqueue(job('1'), NOON + 10);
    expect(second).not.toBe(first);
    expect(box.findJob(second)).toMatchObject({
      state: 'ready',
      run_at: new Date(NOON + 1000).toISOString(),
    });
  });

  test('a parked job becomes ready when the same is asked for again', () => {
    const box = inbox();
    const first = box.enqueue(job('1'), NOON);
    const [held] = box.claimJobs({ ...LEASE, now: NOON });
    if (held === undefined) throw new Error('nothing was claimed');
    expect(box.parkJob(held, NOON + 60_000, ERROR, NOON)).toBe(true);
    expect(box.findJob(first)).toMatchObject({ state: 'parked', last_error_code: 'unavailable' });
    expect(box.enqueue(job('1'), NOON + 5000)).toBe(first);
    expect(box.findJob(first)).toMatchObject({ state: 'ready', attempts: 0 });
  });

  test('a failed job keeps its retry time when a delivery comes, but a person is not made to wait', () => {
    const box = inbox();
    const first = box.enqueue(job('1'), NOON);
    const [held] = box.claimJobs({ ...LEASE, now: NOON });
    if (held === undefined) throw new Error('nothing was claimed');
    box.retryJob(held, NOON + 600_000, ERROR, NOON);
    box.enqueue(job('1'), NOON + 5000);
    expect(box.findJob(first)).toMatchObject({ run_at: new Date(NOON + 600_000).toISOString() });
    box.enqueue({ ...job('1'), trigger: 'person' }, NOON + 5000);
    expect(box.findJob(first)).toMatchObject({ run_at: new Date(NOON + 5000).toISOString(), attempts: 1 });
  });

  test('what a person asks for is not spared as a scheduled job is', () => {
    const box = inbox();
    const first = box.enqueue({ ...job('1'), trigger: 'schedule' }, NOON);
    expect(box.enqueue({ ...job('1'), trigger: 'person' }, NOON)).toBe(first);
    expect(box.findJob(first)).toMatchObject({ trigger: 'person' });
    for (const trigger of ['schedule', 'worker', 'delivery']) {
      box.enqueue({ ...job('1'), trigger }, NOON);
      expect(box.findJob(first)).toMatchObject({ trigger: 'person' });
    }
    const second = box.enqueue({ ...job('2'), trigger: 'delivery' }, NOON);
    expect(box.enqueue({ ...job('2'), trigger: 'person' }, NOON)).toBe(second);
    expect(box.findJob(second)).toMatchObject({ trigger: 'person' });
  });
});
