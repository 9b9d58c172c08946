import { expect, test } from 'vitest';
import { chooseJobs, type ClaimCandidate } from '../../src/inbox/choose-jobs.js';
import { MAX_ATTEMPTS, PRIORITIES } from '../../src/inbox/job.js';

const NOON = '2026-05-04T12:00:00.000Z';
const EARLIER = '2026-05-04T11:00:00.000Z';

function candidate(id: number, overrides: Partial<ClaimCandidate> = {}): ClaimCandidate {
  return {
    id,
    state: 'waiting',
    priority: PRIORITIES.announced,
    attempts: 0,
    installationId: `installation-${id}`,
    organizationId: `organization-${id}`,
    runAt: NOON,
    createdAt: EARLIER,
    lastStartedAt: null,
    ...overrides,
  };
}

const choose = (
  candidates: readonly ClaimCandidate[],
  taken = 0,
  running: readonly [string, number][] = [],
) => chooseJobs(candidates, new Map(running), taken);

test('announced jobs get three of four claims, and first reads three of four of the rest', () => {
  const jobs = Object.values(PRIORITIES).flatMap(priority =>
    Array.from({ length: 20 }, (_, n) => candidate(priority * 100 + n, { priority })),
  );
  const order = choose(jobs).map(id => Math.floor(id / 100));
  expect(order.slice(0, 16)).toEqual([1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 3]);
  expect(order).toHaveLength(60);
});

test('claims that were taken before decide whose turn it is', () => {
  const jobs = [candidate(1), candidate(2, { priority: PRIORITIES.scheduled })];
  expect([0, 1, 2, 3, 4].map(taken => choose(jobs, taken)[0])).toEqual([1, 1, 1, 2, 1]);
});

test('an expired lease and a job that failed during an outage come before all others', () => {
  const jobs = [
    candidate(1),
    candidate(2, { priority: PRIORITIES.scheduled, attempts: 1, runAt: EARLIER }),
    candidate(3, { state: 'running', lastStartedAt: EARLIER, attempts: 1 }),
  ];
  expect(choose(jobs)).toEqual([2, 3, 1]);
});

test('a paused job is in the queue of scheduled jobs', () => {
  const jobs = [candidate(1, { state: 'paused' }), candidate(2, { priority: PRIORITIES.firstRead })];
  expect(choose(jobs)).toEqual([2, 1]);
});

test('only one job of an installation and of an organization is chosen', () => {
  const jobs = [
    candidate(1, { runAt: NOON }),
    candidate(2, { installationId: 'installation-1', runAt: EARLIER }),
    candidate(3, { organizationId: 'organization-2', runAt: NOON }),
    candidate(4, { installationId: null, organizationId: null }),
    candidate(5, { installationId: null, organizationId: null }),
  ];
  expect(choose(jobs)).toEqual([2, 4, 5]);
});

test('within a priority the order is: fewest running, longest since the last start, longest waiting', () => {
  const jobs = [
    candidate(1, { runAt: EARLIER, lastStartedAt: NOON }),
    candidate(2, { lastStartedAt: EARLIER }),
    candidate(3, { runAt: NOON }),
    candidate(4, { runAt: EARLIER }),
    candidate(5, { runAt: EARLIER }),
  ];
  expect(choose(jobs, 0, [['installation-5', 1]])).toEqual([4, 3, 2, 1, 5]);
});

test('of one installation the job that waits longest is chosen, and the lowest id among equals', () => {
  const ofOne = { installationId: 'installation-1', organizationId: 'organization-1' };
  const late = candidate(1, ofOne);
  expect(choose([late, candidate(2, { ...ofOne, runAt: EARLIER })])).toEqual([2]);
  expect(choose([candidate(2, ofOne), late])).toEqual([1]);
  expect(choose([candidate(4), candidate(3)])).toEqual([3, 4]);
});

test('a job without attempts left is not chosen', () => {
  expect(choose([candidate(1, { attempts: MAX_ATTEMPTS }), candidate(2)])).toEqual([2]);
});
