// npm run torture -- mirror [SEEDS] [FIRST]: runs the property test of the mirror over many more random histories. It runs them
// in batches, each in a process of its own, and prints how many deliveries were dropped, workers and registries killed, rows
// closed, clocks set back, and pages read beyond the first of a list.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSizes } from './read-sizes.js';

const BATCH = 50;
const [SEEDS = 0, FIRST = 0] = readSizes(['500', '1001'], ['1', '23']).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'torture-mirror-'));
/** @type {Record<string, number>} */
const totals = {
  seeds: 0,
  operations: 0,
  drops: 0,
  kills: 0,
  registryKills: 0,
  closedRows: 0,
  clockChanges: 0,
  pages: 0,
};
let failed = false;

try {
  for (let first = FIRST; first < FIRST + SEEDS && !failed; first += BATCH) {
    await playBatch(first, Math.min(BATCH, FIRST + SEEDS - first));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const [name, value] of Object.entries(totals)) {
  if (value === 0) failed = true;
  process.stdout.write(`${name}: ${value}\n`);
}
process.exitCode = failed ? 1 : 0;

/**
 * Runs the property test with some seeds in a process of its own, and adds its counts to the totals.
 * @param {number} first
 * @param {number} seeds
 */
async function playBatch(first, seeds) {
  const report = join(folder, `${first}.json`);
  const env = {
    ...process.env,
    HISTORY_SEEDS: `${seeds}`,
    HISTORY_FIRST_SEED: `${first}`,
    HISTORY_REPORT: report,
  };
  const vitest = ['vitest', 'run', 'test/flows/history.test.ts', '--reporter=dot', '--silent=passed-only'];
  const child = spawn('npx', vitest, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', chunk => {
    output += chunk;
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) {
    failed = true;
    process.stdout.write(output);
    return;
  }
  /** @type {Record<string, number>} */
  const played = JSON.parse(readFileSync(report, 'utf8'));
  for (const name of Object.keys(totals)) totals[name] = (totals[name] ?? 0) + (played[name] ?? 0);
  process.stdout.write(
    `seeds ${first} to ${first + seeds - 1}: the mirror equals the registry at every rest\n`,
  );
}
