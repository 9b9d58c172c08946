// npm run bench -- NAME [...]: runs test/bench/NAME.js against dist/; without a name all of them, and one table of what they demand.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [name] = process.argv.slice(2);
const names = readdirSync(new URL('.', import.meta.url))
  .filter(file => file.endsWith('.js') && file !== 'run.js')
  .map(file => file.slice(0, -'.js'.length));

if (name === undefined) process.exitCode = runAll();
else if (names.includes(name)) await import(`./${name}.js`);
else {
  process.stderr.write(`usage: npm run bench -- [NAME]\nthere are: ${names.join(', ')}\n`);
  process.exitCode = 2;
}

function runAll() {
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-bench-'));
  const file = join(folder, 'figures');
  let failed = 0;
  for (const each of names) {
    process.stdout.write(`\n== ${each}\n`);
    const env = { ...process.env, BENCH_FIGURES: file };
    const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), each], {
      env,
      stdio: 'inherit',
    });
    if (status !== 0) failed += 1;
  }
  const figures = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  process.stdout.write('\n== what was demanded\n');
  for (const { name: what, value, unit, words, holds } of figures.map(line => JSON.parse(line))) {
    const said = `${value.toFixed(2)} ${unit}`;
    process.stdout.write(`${holds ? '  ' : '! '}${what.padEnd(84)} ${said.padStart(16)}  ${words}\n`);
  }
  rmSync(folder, { recursive: true });
  return failed === 0 ? 0 : 1;
}
