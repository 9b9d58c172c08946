// npm run torture -- orders [STEP]: plays all 5,040 orders in which the seven events can arrive, or every STEPth of them, with the whole program.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readSizes } from './read-sizes.js';

const [step] = readSizes(['1'], ['1000']);
const vitest = ['vitest', 'run', 'test/flows/deliveries.test.ts', '-t', 'T08'];
const child = spawn('npx', vitest, { env: { ...process.env, ORDER_STEP: step }, stdio: 'inherit' });
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
