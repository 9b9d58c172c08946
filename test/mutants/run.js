// npm run mutants -- ROOM [EVERY]: breaks src/ROOM in one place after the other, or in every so many, and tells what no law notices.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createVitest } from 'vitest/node';
import { findMutants, withMutants } from './mutate.js';

const [room, every = '1'] = process.argv.slice(2);
const reasons = JSON.parse(readFileSync('test/mutants/known.json', 'utf8'));
const mutants = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts') && `${file}/`.startsWith(`${room}/`))
  .flatMap(file => findMutants(join('src', file)))
  .filter((_, place) => place % Number(every) === 0)
  .map((place, number) => ({ ...place, number }));
if (mutants.length === 0) throw new Error('usage: mutants -- ROOM|FILE [EVERY]');

/** No file of src is written: all mutants are compiled in at once, and no law may need another. */
const code = new Map(mutants.map(({ file }) => [resolve(file), withMutants(file, mutants)]));
const only = { watch: false, reporters: [{}], project: ['laws', 'mutants'], related: [...code.keys()] };
const vitest = await createVitest('test', only, { logLevel: 'silent' });
vitest.config.sequence.sequencer = class {
  sort = asked => asked;
};
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
const related = (await vitest.getRelevantTestSpecifications()).map(({ moduleId }) => moduleId);
const isNear = file => Number(new RegExp(`/test/(flows|(contract/)?${room.split(/[./]/)[0]})`).test(file));
const laws = [];
const files = related.toSorted((a, b) => isNear(b) - isNear(a));
for (const file of files) {
  const asked = [project.createSpecification(file)];
  let [state, left] = ['timed out', 1000];
  while (state === 'timed out' && (left -= 1)) state = await ask(asked, [], Infinity);
  if (state !== 'survived') state = await ask(asked, []);
  const tests = state === 'survived' ? [...asked[0].testModule.children.allTests()] : [];
  laws.push(...tests.flatMap(({ id }) => (noted(id) ? { file, id, ...JSON.parse(noted(id)) } : [])));
  if (state !== 'survived') console.error(`left out, as it is red without a mutant: ${file}`);
}
const told = mutants.map(({ number }) => noted(number));
const isOpen = ({ number }) => !/killed|timed out/.test(told[number]);
const isLikely = ({ number }) => told[number] === 'survived';
await askOf(mutants.filter(mutant => isOpen(mutant) && !isLikely(mutant)));
await askOf(mutants.filter(isLikely));
const counts = { killed: 0, 'timed out': 0, survived: 0, 'not reached': 0, named: 0 };
const isReached = new Set(laws.flatMap(({ loaded, reached }) => [...loaded, ...reached]));
for (const mutant of mutants) {
  const { number, key, line } = mutant;
  const state = isReached.has(number) ? 'survived' : 'not reached';
  counts[isOpen(mutant) ? state : told[number]] += 1;
  if (!isOpen(mutant)) continue;
  counts.named += key in reasons ? 1 : 0;
  console.log(`${reasons[key] ?? state}: line ${line} of ${key}`);
}
const keys = new Set(mutants.map(({ key }) => key));
const isWhole = every === '1';
for (const key of Object.keys(reasons)) {
  if (isWhole && key.startsWith(`src/${room}`) && !keys.has(key))
    console.log(`named, but no longer there: ${key}`);
}
console.table([{ room, places: mutants.length, ...counts }]);
await vitest.close();
rmSync(TMPDIR, { recursive: true });
process.exit(counts.named === counts.survived + counts['not reached'] ? 0 : 3);

/** Of several at once, and if that is noticed of each half: what no law notices of all together it does not of each. */
async function askOf(several) {
  const open = laws.filter(law => several.some(mutant => isLeft(law, mutant)));
  const asked = files.flatMap(file => {
    const testIds = open.filter(law => law.file === file).map(({ id }) => id);
    return testIds.length > 0 ? project.createSpecification(file, { testIds }) : [];
  });
  const state = asked.length > 0 ? await ask(asked, several) : 'survived';
  if (state === 'survived') return;
  if (several.length === 1) told[several[0].number] = state;
  else for (const half of [several.splice(0, several.length / 2), several]) await askOf(half);
}

/** A quick test has asked already, but of what is worked out while its file is loaded. */
function isLeft({ loaded, reached, isQuick }, { number }) {
  return loaded.includes(number) || (reached.includes(number) && !(isQuick && told[number] === 'survived'));
}

async function ask(asked, alive, retry = 0) {
  Object.assign(project.config, {
    retry,
    env: { TMPDIR, MUTANTS: JSON.stringify(alive.map(({ number }) => number)) },
  });
  const { unhandledErrors } = await vitest.runTestSpecifications(asked);
  const ended = unhandledErrors.find(({ message }) => message.startsWith('[vitest-pool'));
  if (ended) return /exited/.test(ended.cause?.message) ? 'timed out' : ask(asked, alive, retry);
  const isGreen = unhandledErrors.length === 0 && asked.every(({ testModule }) => testModule?.ok());
  return isGreen ? 'survived' : 'killed';
}
