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

/** What is near is asked first, each law in a process of its own; what is far in tens, which is quicker. */
const files = (await vitest.getRelevantTestSpecifications()).map(({ moduleId }) => moduleId);
const isNear = file => file.includes(`/test/${room.split('.')[0]}`);
const unread = files.filter(isNear).map(file => [file]);
for (const far = files.filter(file => !isNear(file)); far.length > 0; ) unread.push(far.splice(0, 10));
const laws = [];
for (const some of unread) {
  const asked = some.map(file => project.createSpecification(file));
  let state = 'timed out';
  for (let again = 0; state === 'timed out' && again < 100; again += 1)
    state = await ask(asked, NaN, Infinity);
  if (state === 'survived' || (await ask(asked, NaN)) === 'survived')
    for (const { moduleId, testModule } of asked) {
      const tests = [...testModule.children.allTests()];
      laws.push({ moduleId, tests: tests.map(({ id }) => ({ id, reached: JSON.parse(noted(id) || '[]') })) });
    }
  else if (some.length > 1) unread.push(...some.map(file => [file]));
  else console.error(`left out, as it is red without a mutant: ${some[0]}`);
}

for (const mutant of mutants) {
  const asked = laws.flatMap(({ moduleId, tests }) => {
    const testIds = tests.filter(({ reached }) => reached.includes(mutant.number)).map(({ id }) => id);
    return testIds.length > 0 ? [project.createSpecification(moduleId, { testIds })] : [];
  });
  mutant.state = noted(mutant.number);
  mutant.state ||= asked.length > 0 ? await ask(asked, mutant.number) : 'not reached';
}
await vitest.close();
rmSync(TMPDIR, { recursive: true });

const alive = mutants.filter(({ state }) => state === 'survived' || state === 'not reached');
for (const { key, line, state } of alive) console.log(`${reasons[key] ?? state}: line ${line} of ${key}`);
const named = alive.filter(({ key }) => reasons[key]).length;
const countOf = state => [state, mutants.filter(mutant => mutant.state === state).length];
const counts = Object.fromEntries(['killed', 'timed out', 'survived', 'not reached'].map(countOf));
console.table([{ room, places: mutants.length, ...counts, named }]);
process.exit(named === alive.length ? 0 : 3);

/** What the runner wrote down of a mutant, or of a test. */
function noted(id) {
  const file = join(TMPDIR, String(id));
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

async function ask(asked, mutant, retry = 0) {
  Object.assign(project.config, { retry, env: { TMPDIR, MUTANT: String(mutant) } });
  const { unhandledErrors } = await vitest.runTestSpecifications(asked);
  const ended = unhandledErrors.find(({ message }) => message.startsWith('[vitest-pool'));
  if (ended) return /exited/.test(ended.cause?.message) ? 'timed out' : ask(asked, mutant, retry);
  const isGreen = unhandledErrors.length === 0 && asked.every(({ testModule }) => testModule?.ok());
  return isGreen ? 'survived' : 'killed';
}
