// node tools/parallel.js NAME...: runs these scripts of package.json in parallel, and prints the output of each when it has ended.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const codes = await Promise.all(process.argv.slice(2).map(run));
process.exitCode = Math.max(0, ...codes);

/** @param {string} name */
async function run(name) {
  const child = spawn('npm', ['run', '--silent', name], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: join(import.meta.dirname, '..'),
  });
  /** @type {Promise<number>} */
  const ended = new Promise(resolve => {
    child.once('error', () => resolve(1));
    child.once('close', code => resolve(code ?? 1));
  });
  const outputs = await Promise.all([text(child.stdout), text(child.stderr)]);
  const code = await ended;
  process.stdout.write(outputs.join(''));
  if (code !== 0) process.stderr.write(`npm run ${name} ended with ${code}\n`);
  return code;
}
