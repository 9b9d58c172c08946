// npm run torture -- forgery [FORGED_FOLDERS] [MUTATIONS] [UNCOVERED] [HONEST] [FIRST SEED]: tests the checker of
// evidence, on both engines. It must refuse forged folders of each scope, and folders with changed bytes (MUTATIONS). It must never
// call data proven that no checkpoint covers (UNCOVERED). Honest histories with kills, restores, forgotten people and purges must
// pass (HONEST).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readSizes } from './read-sizes.js';

const [FORGED_FOLDERS, MUTATIONS, UNCOVERED, HONEST, FORGERY_SEED] = readSizes(
  ['1500', '12000', '100', '500', '1'],
  ['100', '1', '1', '1', '1'],
);
const env = { ...process.env, FORGED_FOLDERS, MUTATIONS, UNCOVERED, HONEST, FORGERY_SEED };
const vitest = ['vitest', 'run', 'test/contract/evidence-forgery.test.ts', '--testTimeout=7200000'];
const [code] = await once(spawn('npx', vitest, { env, stdio: 'inherit' }), 'exit');
process.exitCode = code ?? 1;
