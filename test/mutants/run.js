// npm run mutants -- ROOM: breaks src/ROOM in one place after the other, and tells what no law notices.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createVitest } from 'vitest/node';
import { findMutants, withMutants } from './mutate.js';

const [room] = process.argv.slice(2);
const reasons = JSON.parse(readFileSync('test/mutants/known.json', 'utf8'));
const mutants = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts') && `${file}/`.startsWith(`${room}/`))
  .flatMap(file => findMutants(join('src', file)))
  .map((place, number) => ({ ...place, number }));
if (mutants.length === 0) throw new Error('usage: mutants -- ROOM|FILE');

/** No file of src is written: all mutants are compiled in at once, and no law may need another. */
const code = new Map(mutants.map(({ file }) => [resolve(file), withMutants(file, mutants)]));
const only = { watch: false, reporters: [{}], project: ['laws', 'mutants'], related: [...code.keys()] };
const vitest = await createVitest('test', only, { logLevel: 'silent' });
const { cache: _cache, browser: _browser, ...same } = vitest.projects[0].config;
const own = { name: 'mutants', runner: join(import.meta.dirname, 'runner.js'), maxWorkers: 1, bail: 1 };
const test = { ...same, ...own, execArgv: ['--no-warnings'], experimental: { fsModuleCache: false } };
const plugins = [{ name: 'mutants', enforce: 'pre', transform: (_text, id) => code.get(id) }];
const [project] = await vitest.injectTestProject([{ plugins, test }]);
vitest.projects = [project];
const TMPDIR = mkdtempSync(join(tmpdir(), 'mutants-'));
/** What the runner wrote down of a mutant, or of a test. */
const noted = id => (existsSync(`${TMPDIR}/${id}`) ? readFileSync(`${TMPDIR}/${id}`, 'utf8') : '');

/** What is near is asked first, each law in a process of its own. */
const files = (await vitest.getRelevantTestSpecifications()).map(({ moduleId }) => moduleId);
const isNear = file => Number(file.includes(`/test/${room.split('.')[0]}`));
const laws = [];
for (const file of files.toSorted((a, b) => isNear(b) - isNear(a))) {
  const asked = [project.createSpecification(file)];
  let [state, left] = ['timed out', 100];
  while (state === 'timed out' && (left -= 1)) state = await ask(asked, NaN, Infinity);
  if (state !== 'survived') state = await ask(asked, NaN);
  const tests = state === 'survived' ? [...asked[0].testModule.children.allTests()] : [];
  laws.push({ file, tests: tests.map(({ id }) => ({ id, reached: JSON.parse(noted(id) || '[]') })) });
  if (state !== 'survived') console.error(`left out, as it is red without a mutant: ${file}`);
}
for (const mutant of mutants) {
  const asked = laws.flatMap(({ file, tests }) => {
    const testIds = tests.filter(({ reached }) => reached.includes(mutant.number)).map(({ id }) => id);
    return testIds.length > 0 ? project.createSpecification(file, { testIds }) : [];
  });
  mutant.state = noted(mutant.number) || (asked.length > 0 ? await ask(asked, mutant.number) : 'not reached');
}
await vitest.close();
rmSync(TMPDIR, { recursive: true });
const counts = { killed: 0, 'timed out': 0, survived: 0, 'not reached': 0, named: 0 };
for (const { key, line, state } of mutants) {
  counts[state] += 1;
  if (state === 'killed' || state === 'timed out') continue;
  counts.named += key in reasons ? 1 : 0;
  console.log(`${reasons[key] ?? state}: line ${line} of ${key}`);
}
console.table([{ room, places: mutants.length, ...counts }]);
process.exit(counts.named === counts.survived + counts['not reached'] ? 0 : 3);

async function ask(asked, mutant, retry = 0) {
  Object.assign(project.config, { retry, env: { TMPDIR, MUTANT: String(mutant) } });
  const { unhandledErrors } = await vitest.runTestSpecifications(asked);
  const ended = unhandledErrors.find(({ message }) => message.startsWith('[vitest-pool'));
  if (ended) return /exited/.test(ended.cause?.message) ? 'timed out' : ask(asked, mutant, retry);
  const isGreen = unhandledErrors.length === 0 && asked.every(({ testModule }) => testModule?.ok());
  return isGreen ? 'survived' : 'killed';
}
