// npm run mutants -- ROOM [EVERY] [TESTS]: breaks src/ROOM in one place after the other, or in every so many, and tells what no law
// notices. TESTS is the folder of the tests that are asked, such as test/query.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createVitest } from 'vitest/node';
import { findMutants, withMutants } from './mutate.js';

/** @import { TestSpecification } from 'vitest/node' */
/** @import { Mutant } from './mutate.js' */
/** What the runner notes of a test: the mutants that it loads and reaches, and whether it is asked again with each of them. */
/** @typedef {{ loaded: number[], reached: number[], isQuick: boolean }} Reach */
/** @typedef {Reach & { file: string, id: string }} Law */

const [room = '', every = '1', testFolder = 'test'] = process.argv.slice(2);
/** @type {Readonly<Record<string, string>>} */
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
  /** @param {TestSpecification[]} asked */
  sort = asked => asked;
  /** @param {TestSpecification[]} asked */
  shard = asked => asked;
};
const [lawsProject] = vitest.projects;
if (lawsProject === undefined) throw new Error('expected the project of laws');
const { cache: _cache, browser: _browser, ...same } = lawsProject.config;
const own = { name: 'mutants', runner: join(import.meta.dirname, 'runner.js'), maxWorkers: 1, bail: 1 };
const test = { ...same, ...own, execArgv: ['--no-warnings'], experimental: { fsModuleCache: false } };
/** @type {(text: string, id: string) => string | undefined} */
const transform = (_text, id) => code.get(id);
const plugins = [{ name: 'mutants', enforce: 'pre', transform }];
const [project] = await vitest['injectTestProject']([{ plugins, test }]);
vitest.projects = [project];
const TMPDIR = mkdtempSync(join(tmpdir(), 'mutants-'));
/** What the runner wrote down of a mutant, or of a test. */
/** @type {(id: string | number) => string} */
const noted = id => (existsSync(`${TMPDIR}/${id}`) ? readFileSync(`${TMPDIR}/${id}`, 'utf8') : '');

/** What is near is asked first, each law in a process of its own. */
const related = (await vitest.getRelevantTestSpecifications())
  .map(({ moduleId }) => moduleId)
  .filter(file => file.startsWith(`${resolve(testFolder)}/`));
/** @param {string} file */
const isNear = file => Number(new RegExp(`/test/(flows|(contract/)?${room.split(/[./]/)[0]})`).test(file));
/** @type {Law[]} */
const laws = [];
const files = related.toSorted((a, b) => isNear(b) - isNear(a));
/** @type {Map<string, number>} */
const durations = new Map();
for (const file of files) {
  const asked = [project.createSpecification(file)];
  let [state, left] = ['timed out', 1000];
  while (state === 'timed out' && (left -= 1)) state = await ask(asked, [], Infinity);
  if (state !== 'survived') state = await ask(asked, []);
  const tests =
    state === 'survived'
      ? asked.flatMap(({ testModule }) => [...(testModule?.children.allTests() ?? [])])
      : [];
  laws.push(...tests.flatMap(({ id }) => (noted(id) ? { file, id, ...JSON.parse(noted(id)) } : [])));
  durations.set(file, asked[0]?.testModule?.diagnostic().duration ?? 0);
  if (state !== 'survived') console.error(`left out, as it is red without a mutant: ${file}`);
}
/** Most mutants that are left are noticed by any test that loads them: the quickest file is asked first. */
files.sort((a, b) => (durations.get(a) ?? 0) - (durations.get(b) ?? 0));
const told = mutants.map(({ number }) => noted(number));
/** @param {Mutant} mutant */
const isOpen = ({ number }) => !/killed|timed out/.test(told[number] ?? '');
/** @param {Mutant} mutant */
const isLikely = ({ number }) => told[number] === 'survived';
await askOf(mutants.filter(mutant => isOpen(mutant) && !isLikely(mutant)));
await askOf(mutants.filter(isLikely));
/** @type {Record<string, number>} */
const counts = { killed: 0, 'timed out': 0, survived: 0, 'not reached': 0, named: 0 };
const isReached = new Set(laws.flatMap(({ loaded, reached }) => [...loaded, ...reached]));
for (const mutant of mutants) {
  const { number, key, line } = mutant;
  const state = isReached.has(number) ? 'survived' : 'not reached';
  countOne(isOpen(mutant) ? state : (told[number] ?? ''));
  if (!isOpen(mutant)) continue;
  if (key in reasons) countOne('named');
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
process.exit(counts['named'] === (counts['survived'] ?? 0) + (counts['not reached'] ?? 0) ? 0 : 3);

/** @param {string} state */
function countOne(state) {
  counts[state] = (counts[state] ?? 0) + 1;
}

/**
 * Of several at once, and if that is noticed of each half: what no law notices of all together it does not of each.
 * @param {Mutant[]} several
 */
async function askOf(several) {
  const open = laws.filter(law => several.some(mutant => isLeft(law, mutant)));
  const asked = files.flatMap(file => {
    const testIds = open.filter(law => law.file === file).map(({ id }) => id);
    return testIds.length > 0 ? project.createSpecification(file, { testIds }) : [];
  });
  const state = asked.length > 0 ? await ask(asked, several) : 'survived';
  if (state === 'survived') return;
  const [first, ...others] = several;
  if (first !== undefined && others.length === 0) told[first.number] = state;
  else for (const half of [several.splice(0, several.length / 2), several]) await askOf(half);
}

/**
 * A quick test has asked already, but of what is worked out while its file is loaded.
 * @param {Law} law
 * @param {Mutant} mutant
 */
function isLeft({ loaded, reached, isQuick }, { number }) {
  return loaded.includes(number) || (reached.includes(number) && !(isQuick && told[number] === 'survived'));
}

/**
 * @param {TestSpecification[]} asked
 * @param {readonly Mutant[]} alive
 * @param {number} [retry]
 * @returns {Promise<'survived' | 'killed' | 'timed out'>}
 */
async function ask(asked, alive, retry = 0) {
  Object.assign(project.config, {
    retry,
    env: { TMPDIR, MUTANTS: JSON.stringify(alive.map(({ number }) => number)) },
  });
  const { unhandledErrors } = await vitest.runTestSpecifications(asked);
  const errors = unhandledErrors.filter(error => error instanceof Error);
  const ended = errors.find(({ message }) => message.startsWith('[vitest-pool'));
  if (ended)
    return ended.cause instanceof Error && /exited/.test(ended.cause.message)
      ? 'timed out'
      : ask(asked, alive, retry);
  const isGreen = unhandledErrors.length === 0 && asked.every(({ testModule }) => testModule?.ok());
  return isGreen ? 'survived' : 'killed';
}
