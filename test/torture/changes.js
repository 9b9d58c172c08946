// npm run torture -- changes [SEEDS] [FIRST] [CREDITS] [EXPLAINED]: random histories with kills on both engines. At every rest a
// copy that is kept by the view `changes` alone is what the mirror's history knows of that instant, and `explain` of rows by
// chance, so many in all, agrees with the sandbox's own record of calls and deliveries. Then the balances of a trade of so many
// credits.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readSizes } from './read-sizes.js';

const BATCH = 50;
const [seeds = 0, first = 0, credits = 0, explained = 0] = readSizes(
  ['1000', '2001', '10000', '10000'],
  ['1', '23', '40', '10'],
).map(Number);

for (let from = first; from < first + seeds && process.exitCode === undefined; from += BATCH) {
  const count = Math.min(BATCH, first + seeds - from);
  await run('test/flows/history.test.ts', [], {
    HISTORY_SEEDS: count,
    HISTORY_FIRST_SEED: from,
    HISTORY_EXPLAINED: Math.ceil(explained / seeds),
  });
}
if (process.exitCode === undefined) {
  await run('test/contract/mirror-balance.test.ts', ['-t', 'at random', '--testTimeout=1800000'], {
    TRADE_CREDITS: credits,
  });
}

/**
 * @param {string} file
 * @param {readonly string[]} more
 * @param {Readonly<Record<string, number>>} env
 */
async function run(file, more, env) {
  process.stdout.write(`${file} ${JSON.stringify(env)}\n`);
  const inWords = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
  const vitest = ['vitest', 'run', file, '--reporter=dot', '--silent=passed-only', ...more];
  const child = spawn('npx', vitest, { env: { ...process.env, ...inWords }, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
}
