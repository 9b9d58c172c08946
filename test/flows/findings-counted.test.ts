import { expect, test } from 'vitest';
import { countFindings } from '../../src/app/finding-counter.js';
import { runCommand } from '../support/command.js';
import { startInstalled } from '../support/program.js';

test('findings are counted in status, doctor and verify, and do not fail verify', async () => {
  const { program, creditId } = await startInstalled();
  const { engine, folder, time } = program;
  const ask = (...words: string[]) => runCommand(words, { env: { DATA_DIR: folder }, now: time.now });
  expect((await ask('status')).stdout).toContain('Findings have not been counted yet');
  const writers = await engine.openWriterStores(time.now);
  const count = () => countFindings({ engine, mirror: writers.mirror, now: time.now });
  await count();
  expect((await ask('status')).stdout).toMatch(/Findings, counted .+ ago: none\./);
  program.registry.faults.add({
    path: '/organizations/*/warehouse/inventory',
    kind: 'overrideObjects',
    options: { body: { [creditId]: { amount: -5 } } },
  });
  await program.reconcile();
  await count();
  await writers.close();
  expect((await ask('status')).stdout).toMatch(/Findings, counted .+ ago: negative_amount: 1\./);
  expect(JSON.parse((await ask('status', '--json')).stdout).findings.counts).toContainEqual({
    finding: 'negative_amount',
    rows: 1,
  });
  const { stdout, exitCode } = await ask('verify', '--json');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout).findings).toContainEqual({ finding: 'negative_amount', rows: 1 });
  expect((await ask('verify')).stderr).toContain('negative_amount: 1');
  expect((await ask('available')).stdout).toContain('(1 row, excluding 1 without a usable amount)');
  expect(JSON.parse((await ask('doctor', '--json')).stdout)).toContainEqual(
    expect.objectContaining({
      check: 'findings',
      state: 'warn',
      found: expect.stringMatching(/^negative_amount: 1, counted .+ ago$/),
    }),
  );
});
