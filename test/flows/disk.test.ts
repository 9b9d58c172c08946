import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startInstalled } from '../support/program.js';

const PDFS = '/organizations/*/retirements/*/pdf';
const RETIREMENTS = 30;

test('T21 a certificate walk stops when the disk is nearly full and resumes where it stopped', async () => {
  const disk: { reason: string | null } = { reason: null };
  const { program, retire } = await startInstalled({
    worker: { findPauseReason: () => disk.reason, pauseCheckIntervalMs: 2 },
  });
  const { registry, inbox, rows } = program;
  registry.faults.add({ path: PDFS, kind: 'delay', options: { delayMs: 100 } });
  for (let n = 0; n < RETIREMENTS; n += 1) retire(1);
  const stored = async () => (await rows("SELECT 1 FROM certificates WHERE state = 'stored'")).length;
  await expect.poll(stored, { interval: 2 }).toBeGreaterThan(0);
  disk.reason = 'nearly full';
  await expect.poll(async () => (await inbox.countJobs()).running).toBe(0);
  const soFar = await stored();
  expect(soFar).toBeLessThan(RETIREMENTS);
  expect(
    (await rows("SELECT error_code FROM syncs WHERE resource = 'certificates' ORDER BY id DESC"))[0],
  ).toEqual({
    error_code: 'disk_nearly_full',
  });
  const runs = async () => (await rows('SELECT id FROM syncs')).length;
  const runsSoFar = await runs();
  retire(1);
  await registry.deliveries.waitUntilSettled();
  const newest = `SELECT verdict, j.state FROM deliveries AS d JOIN jobs AS j ON j.id = job_id
    ORDER BY d.id DESC LIMIT 1`;
  expect(await rows(newest)).toEqual([{ verdict: 'accepted', state: 'waiting' }]);
  expect(await inbox.countJobs()).toMatchObject({ running: 0, paused: 0, failed: 0 });
  expect(await rows("SELECT 1 FROM jobs WHERE state = 'waiting' AND attempts > 0")).toEqual([]);
  expect({ stored: await stored(), runs: await runs() }).toEqual({ stored: soFar, runs: runsSoFar });

  registry.faults.clear();
  disk.reason = null;
  await program.rest();
  expect(await stored()).toBe(RETIREMENTS + 1);
  expect(readdirSync(join(program.folder, 'certificates'))).toHaveLength(RETIREMENTS + 1);
});
