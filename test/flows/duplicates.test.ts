import { expect, test } from 'vitest';
import { UNCHANGED_OUTCOME } from '../../src/inbox/job.js';
import { recordUnreadDeliveries } from '../../src/sync/schedule/unread-deliveries.js';
import { findDifferences } from '../support/compare.js';
import { startInstalled, openSyncContext, type Program } from '../support/program.js';

const STEP_MS = 1000;
const MINUTE_MS = 60_000;
const WATCH_MS = 15_000;

interface Captured {
  readonly body: string;
  readonly signature: string;
}

function capture({ registry }: Program): Captured {
  const [latest] = registry.deliveries.list(1);
  const { body, signature } = registry.deliveries.get(latest?.id ?? 0);
  return { body, signature: signature ?? '' };
}

/** Posts the captured webhooks in rotation and lets the worker run due jobs. Returns when installations were read. */
async function replay(
  program: Program,
  captured: readonly Captured[],
  forMs: number,
  afterEachStep = async (_afterMs: number): Promise<void> => undefined,
): Promise<number[]> {
  const readTimes: number[] = [];
  let seenJobs = program.ended.length;
  for (let step = 0; step * STEP_MS < forMs; step += 1) {
    const { body, signature } = captured[step % captured.length] ?? { body: '', signature: '' };
    const headers = { 'content-type': 'application/json', 'x-registry-signature-256': signature };
    const response = await fetch(program.webhookUrl, { method: 'POST', headers, body });
    expect(response.status).toBe(202);
    await response.arrayBuffer();
    await program.worker().idle();
    const ended = program.ended.slice(seenJobs).filter(({ kind }) => kind === 'installation');
    seenJobs = program.ended.length;
    readTimes.push(...ended.map(() => step * STEP_MS));
    program.time.move(STEP_MS);
    await afterEachStep((step + 1) * STEP_MS);
  }
  return readTimes;
}

function countMostPerMinute(readTimes: readonly number[]): number {
  return Math.max(
    ...readTimes.map(from => readTimes.filter(at => at >= from && at < from + MINUTE_MS).length),
  );
}

async function startCaptured() {
  const installed = await startInstalled();
  const { program, retire } = installed;
  const captured: Captured[] = [];
  for (let amount = 1; amount <= 3; amount += 1) {
    retire(amount);
    await program.rest();
    captured.push(capture(program));
  }
  return { ...installed, captured };
}

interface Counted {
  readonly rows: number;
  readonly posts: number;
}

const NONE: Counted = { rows: 0, posts: 0 };
const COUNTED = 'SELECT count(*) AS rows, sum(duplicates + 1) AS posts FROM deliveries';

test('T20 three replayed deliveries in rotation cause fewer than 12 reads a minute, and nothing falls behind', async () => {
  const { program, captured, retire, calls, installationId } = await startCaptured();
  const [{ rows: rowsBefore } = NONE] = await program.rows<Counted>(COUNTED);
  const callsBefore = calls(`/installations/${installationId}`);
  const context = await openSyncContext(program, {});
  const behind: unknown[] = [];
  const watch = async (afterMs: number): Promise<void> => {
    if (afterMs % WATCH_MS !== 0) return;
    await recordUnreadDeliveries(context, program.time.now());
    behind.push(...(await program.rows("SELECT resource FROM freshness WHERE reason = 'unread_webhook'")));
  };
  const readTimes = await replay(program, captured, 2 * MINUTE_MS, watch);
  expect(behind).toEqual([]);
  expect(countMostPerMinute(readTimes)).toBeLessThan(12);
  expect(readTimes.length).toBeGreaterThanOrEqual(8);
  expect(calls(`/installations/${installationId}`) - callsBefore).toBe(readTimes.length);
  expect(program.ended.filter(({ outcome }) => outcome === UNCHANGED_OUTCOME).length).toBeGreaterThanOrEqual(
    8,
  );
  const [{ rows, posts } = NONE] = await program.rows<Counted>(COUNTED);
  expect(rows - rowsBefore).toBeLessThan(60);
  expect(posts - rowsBefore).toBe((2 * MINUTE_MS) / STEP_MS);

  const before = program.ended.length;
  retire(4);
  await program.registry.deliveries.waitUntilSettled();
  program.time.move(1000);
  await program.worker().idle();
  await expect.poll(() => program.ended.length).toBeGreaterThan(before);
  await program.rest();
  expect(await program.rows('SELECT count(*) AS rows FROM retirements')).toEqual([{ rows: 4 }]);
  expect(await findDifferences(program)).toEqual([]);
});

test('T20 a change that only a duplicate announces is found within 15 s, and then reads are quick again', async () => {
  const { program, captured, retire } = await startCaptured();
  await replay(program, captured, MINUTE_MS);
  program.registry.deliveries.changeSettings({ drop: 1 });
  retire(5);
  const readTimes = await replay(program, captured, 40_000);
  expect(readTimes[0]).toBeLessThanOrEqual(16_000);
  expect(readTimes[1]).toBeLessThanOrEqual((readTimes[0] ?? 0) + 2000);
  expect(readTimes[2]).toBeLessThanOrEqual((readTimes[1] ?? 0) + 2000);
  expect(await findDifferences(program)).toEqual([]);
});
