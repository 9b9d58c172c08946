import { describe, expect, test } from 'vitest';
import { type ClaimedJob, installationJob } from '../../src/inbox/job.js';
import { createInbox, type Inbox } from '../../src/inbox/inbox.js';
import { NOON, temporaryInbox } from '../support/inbox.js';

const ERROR = { code: 'unavailable', message: 'answered 503' };
const SECOND = 1000;

function claimOne(box: Inbox, now = NOON): ClaimedJob {
  const [job] = box.claimJobs({ now, leaseMs: 60 * SECOND, slots: 1 });
  if (job === undefined) throw new Error('expected a job to claim');
  return job;
}

function running(payload?: Record<string, unknown>): { box: Inbox; held: ClaimedJob } {
  const box = createInbox(temporaryInbox());
  box.enqueue({ ...installationJob('a', 'acme', 'schedule'), ...(payload ? { payload } : {}) }, NOON);
  return { box, held: claimOne(box) };
}

const askAgain = (box: Inbox, now: number): number =>
  box.enqueue(installationJob('a', 'acme', 'delivery'), now);

describe('a failed job', () => {
  test('waits for its retry time with its error in its row', () => {
    const { box, held } = running();
    expect(box.retryJob(held, NOON + 5 * SECOND, ERROR, NOON)).toBe(true);
    expect(box.findJob(held.id)).toMatchObject({
      state: 'ready',
      attempts: 1,
      run_at: new Date(NOON + 5 * SECOND).toISOString(),
      claimed_until: null,
      last_error_code: 'unavailable',
      last_error: 'answered 503',
    });
    expect(claimOne(box, NOON + 5 * SECOND)).toMatchObject({ id: held.id, attempts: 2 });
  });

  test('does not wait for a retry time that only a clock which was ahead can have given', () => {
    const { box, held } = running();
    box.retryJob(held, NOON + 24 * 3600 * SECOND, ERROR, NOON);
    askAgain(box, NOON + SECOND);
    expect(claimOne(box, NOON + SECOND)).toMatchObject({ id: held.id, attempts: 2 });
  });

  test('keeps its retry time when a delivery asks for the same', () => {
    const { box, held } = running();
    box.retryJob(held, NOON + 60 * SECOND, ERROR, NOON);
    expect(askAgain(box, NOON + SECOND)).toBe(held.id);
    expect(box.findJob(held.id)).toMatchObject({
      run_at: new Date(NOON + 60 * SECOND).toISOString(),
      attempts: 1,
      trigger: 'delivery',
    });
  });

  test('is buried by its tenth failure', () => {
    const { box, held } = running();
    let current = held;
    for (let attempt = 1; attempt < 10; attempt += 1) {
      box.retryJob(current, NOON, ERROR, NOON);
      current = claimOne(box, NOON + attempt * 2 * SECOND);
    }
    expect(current.attempts).toBe(10);
    box.retryJob(current, NOON + 60 * SECOND, ERROR, NOON + 60 * SECOND);
    expect(box.findJob(held.id)).toMatchObject({ state: 'buried', last_error: 'answered 503' });
    expect(box.countJobs()).toMatchObject({ buried: 1, ready: 0 });
  });

  test('gives way to a waiting job of the same key, which takes over its attempts and its retry time', () => {
    const { box, held } = running();
    const waiting = askAgain(box, NOON + 10);
    box.retryJob(held, NOON + 30 * SECOND, ERROR, NOON + 20);
    expect(box.findJob(held.id)).toMatchObject({
      state: 'done',
      outcome: 'merged',
      merged_into: waiting,
      last_error: 'answered 503',
    });
    expect(box.findJob(waiting)).toMatchObject({
      state: 'ready',
      attempts: 1,
      run_at: new Date(NOON + 30 * SECOND).toISOString(),
      last_error_code: 'unavailable',
    });
  });

  test('never narrows the waiting job that takes over from it', () => {
    const { box, held } = running({ resources: { warehouse: true }, full: true });
    const waiting = askAgain(box, NOON + 10);
    box.retryJob(held, NOON + 30 * SECOND, ERROR, NOON + 20);
    expect(JSON.parse(box.findJob(waiting)?.payload ?? '')).toEqual({ full: true });
  });
});

describe('merging', () => {
  test('a delivery widens a waiting job that was to read one resource', () => {
    const box = createInbox(temporaryInbox());
    const id = box.enqueue(
      { ...installationJob('a', 'acme', 'worker'), payload: { resources: { warehouse: true } } },
      NOON,
    );
    expect(askAgain(box, NOON)).toBe(id);
    expect(box.findJob(id)).toMatchObject({ payload: '{}', trigger: 'delivery' });
  });

  test('two narrow wishes add up', () => {
    const box = createInbox(temporaryInbox());
    const wish = (name: string) => ({
      ...installationJob('a', 'acme', 'worker'),
      payload: { resources: { [name]: true } },
    });
    box.enqueue(wish('warehouse'), NOON);
    const id = box.enqueue(wish('inventory'), NOON);
    expect(JSON.parse(box.findJob(id)?.payload ?? '')).toEqual({
      resources: { warehouse: true, inventory: true },
    });
  });

  test('a delivery brings a job forward that the schedule had set for later', () => {
    const box = createInbox(temporaryInbox());
    const id = box.enqueue({ ...installationJob('a', 'acme', 'schedule'), runAt: NOON + 600 * SECOND }, NOON);
    expect(askAgain(box, NOON + SECOND)).toBe(id);
    expect(claimOne(box, NOON + SECOND)).toMatchObject({ id, trigger: 'delivery' });
  });

  test('the schedule does not put off what a delivery wants now', () => {
    const box = createInbox(temporaryInbox());
    const id = askAgain(box, NOON);
    box.enqueue({ ...installationJob('a', 'acme', 'schedule'), runAt: NOON + 600 * SECOND }, NOON);
    expect(claimOne(box, NOON)).toMatchObject({ id, trigger: 'delivery' });
  });

  test('a clock that was set back delays a delivery by a second at most', () => {
    const { box, held } = running();
    box.finishJob(held, 'read', NOON);
    const hourAgo = NOON - 3600 * SECOND;
    const id = askAgain(box, hourAgo);
    expect(box.findJob(id)).toMatchObject({ run_at: new Date(hourAgo + SECOND).toISOString() });
  });
});

describe('a parked job', () => {
  test('waits until the same is asked for', () => {
    const { box, held } = running();
    expect(box.parkJob(held, NOON + 60 * SECOND, ERROR, NOON)).toBe(true);
    expect(box.claimJobs({ now: NOON + 59 * SECOND, leaseMs: 1, slots: 9 })).toEqual([]);
    expect(box.countJobs()).toMatchObject({ parked: 1 });
    askAgain(box, NOON + 5 * SECOND);
    expect(claimOne(box, NOON + 5 * SECOND)).toMatchObject({ id: held.id, attempts: 1 });
  });

  test('T38 tries again by itself, and however often it is refused, it is not buried for that', () => {
    const { box, held } = running();
    let last = held;
    for (let minute = 1; minute <= 30; minute += 1) {
      const at = NOON + minute * 60 * SECOND;
      expect(box.parkJob(last, at, ERROR, at - SECOND)).toBe(true);
      expect(box.nextChangeAt(at - SECOND)).toBe(at);
      expect([box.hasClaimable('data', at - 1), box.hasClaimable('data', at)]).toEqual([false, true]);
      last = claimOne(box, at);
    }
    expect(last.id).toBe(held.id);
    box.retryJob(last, NOON, ERROR, NOON);
    expect(box.findJob(held.id)).toMatchObject({ state: 'ready' });
  });

  test('keeps its own time where the schedule asks for the same later', () => {
    const { box, held } = running();
    box.parkJob(held, NOON + 60 * SECOND, ERROR, NOON);
    const job = installationJob('a', 'acme', 'schedule');
    box.enqueue({ ...job, runAt: NOON + 600 * SECOND }, NOON + SECOND);
    expect(claimOne(box, NOON + 60 * SECOND)).toMatchObject({ id: held.id });
  });

  test('is no dead end: what was asked for while it ran is done', () => {
    const { box, held } = running();
    const waiting = askAgain(box, NOON + 10);
    box.parkJob(held, NOON + 60 * SECOND, ERROR, NOON + 20);
    expect(box.findJob(held.id)).toMatchObject({ state: 'done', merged_into: waiting });
    expect(claimOne(box, NOON + SECOND)).toMatchObject({ id: waiting, attempts: 1 });
  });
});

describe('a buried job', () => {
  test('is run again by one command', () => {
    const { box, held } = running();
    box.buryJob(held, ERROR, NOON);
    expect(box.listJobs({ state: 'buried' })).toMatchObject([{ id: held.id, last_error: 'answered 503' }]);
    expect(box.retryBuried(held.id + 1, NOON)).toBeNull();
    expect(box.retryBuried(held.id, NOON)).toBe(held.id);
    expect(box.retryBuried(held.id, NOON)).toBeNull();
    expect(claimOne(box)).toMatchObject({ id: held.id, attempts: 1 });
  });

  test('gives way to a waiting one when it is run again', () => {
    const { box, held } = running();
    box.buryJob(held, ERROR, NOON);
    const waiting = askAgain(box, NOON + 10);
    expect(waiting).not.toBe(held.id);
    expect(box.retryBuried(held.id, NOON)).toBe(waiting);
    expect(box.findJob(held.id)).toMatchObject({ state: 'done', outcome: 'merged' });
  });
});
