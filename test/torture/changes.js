// npm run torture -- changes [SEEDS] [FIRST] [CREDITS] [EXPLAINED]: plays random histories with kills on both engines. Whenever no
// job is left, a copy that was maintained from the view `changes` alone must equal the mirror's history as of that instant. The
// explanations of EXPLAINED random rows must agree with the sandbox's own log of calls and deliveries. Then it checks the balances of
// random trades of CREDITS credits.
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
  await run('test/contract/mirror-balance.test.ts', ['-t', 'random trades', '--testTimeout=1800000'], {
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
