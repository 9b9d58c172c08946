// npm run torture -- chance [SEEDS] [FIRST]: runs all tests with random data with many more seeds than normal test runs use.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { readSizes } from './read-sizes.js';

const [seeds, first] = readSizes(['50', '1000'], ['1', '1000']);
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.test.ts') && !file.includes('node_modules'))
  .map(file => `test/${file}`)
  .filter(file => readFileSync(file, 'utf8').includes('(seed %i)'));
const env = { ...process.env, SEEDS: seeds, FIRST_SEED: first };
const vitest = ['vitest', 'run', ...files, '-t', '\\(seed ', '--testTimeout=600000'];
const [code] = await once(spawn('npx', vitest, { env, stdio: 'inherit' }), 'exit');
process.exitCode = code ?? 1;
