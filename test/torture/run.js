// npm run torture -- NAME [smallest | SIZE ...] [--write]: runs test/torture/NAME.js against dist/. `smallest` only checks that it still
// runs. `--write` records a run that passed in the table of docs/promises.md, and removes its earlier row if the run failed. A file with a hyphen in its name is a part of another torture test.
import { readdirSync } from 'node:fs';
import { writeProofs } from '../../tools/last-proofs.js';
import { createStamp } from '../../tools/stamp.js';

const isWritten = process.argv.includes('--write');
process.argv = process.argv.filter(word => word !== '--write');
const [name = '', ...sizes] = process.argv.slice(2);
const names = readdirSync(new URL('.', import.meta.url))
  .filter(file => /^[a-z]+\.js$/.test(file) && file !== 'run.js')
  .map(file => file.slice(0, -'.js'.length));

if (names.includes(name)) {
  const title = ['torture', name, ...sizes].join(' ');
  const stamp = isWritten ? createStamp() : '';
  process.once('exit', code => {
    if (isWritten && code === 0) writeProofs([{ name: title, result: 'passed', stamp }]);
    else if (isWritten) writeProofs([], [title]);
  });
  await import(`./${name}.js`);
} else {
  process.stderr.write(
    `usage: npm run torture -- NAME [smallest | SIZE ...] [--write]\nthere are: ${names.join(', ')}\n`,
  );
  process.exitCode = name === '' ? 0 : 2;
}
