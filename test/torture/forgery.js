// npm run torture -- forgery [FORGERIES] [UNCOVERED] [HONEST] [FIRST SEED]: on both engines forgeries of what a held checkpoint
// covers, each found and named by `verify` or check.sh; those that none covers, none called proven; and honest histories with
// kills, restores, people forgotten and organizations purged, none of which raises an alarm.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readSizes } from './read-sizes.js';

const [FORGERIES, UNCOVERED, HONEST, FORGERY_SEED] = readSizes(
  ['1000', '100', '500', '1'],
  ['1', '1', '1', '1'],
);
const env = { ...process.env, FORGERIES, UNCOVERED, HONEST, FORGERY_SEED };
const vitest = ['vitest', 'run', 'test/contract/evidence-forgery.test.ts', '--testTimeout=7200000'];
[process.exitCode] = await once(spawn('npx', vitest, { env, stdio: 'inherit' }), 'exit');
