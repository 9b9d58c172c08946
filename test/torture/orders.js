// npm run torture -- orders: every one of the 5,040 orders in which the seven events can arrive, whole program.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const vitest = ['vitest', 'run', 'test/flows/deliveries.test.ts', '-t', 'T08'];
const child = spawn('npx', vitest, { env: { ...process.env, ORDERS: 'all' }, stdio: 'inherit' });
[process.exitCode] = await once(child, 'exit');
