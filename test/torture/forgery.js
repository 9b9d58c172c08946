// npm run torture -- forgery [FORGED_FOLDERS] [MUTATIONS] [UNCOVERED] [HONEST] [FIRST SEED]: on both engines, forges folders
// of each scope, and changes their bytes, which the checker must refuse; forges data that no checkpoint covers, which must never be
// called proven; and plays honest histories with kills, restores, forgotten people and purges, which must raise no alarm.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readSizes } from './read-sizes.js';

const [FORGED_FOLDERS, MUTATIONS, UNCOVERED, HONEST, FORGERY_SEED] = readSizes(
  ['1500', '12000', '100', '500', '1'],
  ['100', '1', '1', '1', '1'],
);
const env = { ...process.env, FORGED_FOLDERS, MUTATIONS, UNCOVERED, HONEST, FORGERY_SEED };
const vitest = ['vitest', 'run', 'test/contract/evidence-forgery.test.ts', '--testTimeout=7200000'];
[process.exitCode] = await once(spawn('npx', vitest, { env, stdio: 'inherit' }), 'exit');
