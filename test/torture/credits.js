// npm run torture -- credits [SEQUENCES] [FIRST]: checks that the sandbox conserves credits over many more random sequences.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readSizes } from './read-sizes.js';

const [sequences, first] = readSizes(['1000', '1000'], ['50', '0']);
const env = { ...process.env, CREDITS_SEQUENCES: sequences, CREDITS_FIRST: first };
const limit = `--testTimeout=${60_000 + Number(sequences) * 1000}`;
const vitest = ['vitest', 'run', 'test/sandbox/conservation.test.ts', limit];
const [code] = await once(spawn('npx', vitest, { env, stdio: 'inherit' }), 'exit');
process.exitCode = code ?? 1;
