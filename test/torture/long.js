// npm run torture -- long [FILES]: runs the tests that are too long for every run: each `long.test` and `engineIndependent` test, tests
// that use `chooseLength` at full length, and the flows on PostgreSQL.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { readSizes } from './read-sizes.js';

const HAS_LONG_FORM = /\bchooseLength\(|\blong\.test\b|\bengineIndependent\b/;
const longFiles = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.test.ts') && !file.includes('node_modules'))
  .filter(file => HAS_LONG_FORM.test(readFileSync(`test/${file}`, 'utf8')))
  .map(file => `test/${file}`);

const env = { ...process.env, LONG: '1' };
/** @type {(files: readonly string[]) => Promise<number>} */
const run = async files =>
  (await once(spawn('npx', ['vitest', 'run', ...files], { env, stdio: 'inherit' }), 'exit'))[0] ?? 1;

const namedFiles = readSizes([], ['test/app/disk.test.ts']);
const runs = namedFiles.length > 0 ? [namedFiles] : [longFiles, ['--project', 'postgres', 'test/flows/']];
for (const files of runs) process.exitCode = (await run(files)) || process.exitCode;
