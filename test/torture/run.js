// npm run torture -- NAME [smallest | SIZE ...]: runs test/torture/NAME.js against dist/. `smallest` only checks that it still runs.
// A file with a hyphen in its name is a part of another torture test.
import { readdirSync } from 'node:fs';

const [name = ''] = process.argv.slice(2);
const names = readdirSync(new URL('.', import.meta.url))
  .filter(file => /^[a-z]+\.js$/.test(file) && file !== 'run.js')
  .map(file => file.slice(0, -'.js'.length));

if (names.includes(name)) {
  await import(`./${name}.js`);
} else {
  process.stderr.write(
    `usage: npm run torture -- NAME [smallest | SIZE ...]\nthere are: ${names.join(', ')}\n`,
  );
  process.exitCode = name === '' ? 0 : 2;
}
