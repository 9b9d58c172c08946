// npm run mutants -- MODULE [EVERY] [TESTFOLDER ...] [--write]: makes one small mistake at a time in src/MODULE (a folder or a file), and lists
// the mistakes that no test notices. Such a mistake is called a mutant; one that no test notices is a survivor.
//
//   EVERY        the sampling interval: 7 tests every seventh mutant
//   TESTFOLDER   runs only the tests below it, including those that start the program; their processes run the built program without
//                mutants. Without a TESTFOLDER, all unit tests run
//   --write      also writes the figures to docs/mutants.md
//
// test/mutants/known.json lists survivors that no test can notice, with the reason.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createVitest } from 'vitest/node';
import { createStamp } from '../../tools/stamp.js';
import { clearCachesWithMutants, compileMutants, findPlaces } from './mutate.js';
import { writeModule } from './write-module.js';

/** @import { TestSpecification } from 'vitest/node' */
/** @import { Mutant } from './mutate.js' */
/** The record of a test that the runner writes. `isRepeated` means that the test has already run with each of its mutants. */
/** @typedef {{ loaded: number[], reached: number[], isRepeated: boolean }} Reach */
/** @typedef {Reach & { file: string, id: string }} UnitTest */

const startedAt = Date.now();
const options = process.argv.slice(2);
const isWritten = options.includes('--write');
const [module = '', every = '1', ...testFolders] = options.filter(option => option !== '--write');
/** @type {Readonly<Record<string, string>>} */
const reasons = JSON.parse(readFileSync('test/mutants/known.json', 'utf8'));
const places = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts') && `${file}/`.startsWith(`${module}/`))
  .flatMap(file => findPlaces(join('src', file)));
const mutants = places
  .filter((_, index) => index % Number(every) === 0)
  .map((place, number) => ({ ...place, number }));
if (mutants.length === 0) {
  process.stderr.write('usage: npm run mutants -- MODULE [EVERY] [TESTFOLDER ...] [--write]\n');
  process.exit(2);
}
const stamp = isWritten ? createStamp() : '';

/** The files of src stay as they are: all mutants are compiled in at once, and the tests activate one after the other. */
const code = new Map(mutants.map(({ file }) => [resolve(file), compileMutants(file, mutants)]));
const vitestOptions = {
  watch: false,
  reporters: [{}],
  project: ['unit', 'program', 'mutants'],
  related: [...code.keys()],
};
const vitest = await createVitest('test', vitestOptions, { logLevel: 'silent' });
vitest.config.sequence.sequencer = class {
  /** @param {TestSpecification[]} specifications */
  sort = specifications => specifications;
  /** @param {TestSpecification[]} specifications */
  shard = specifications => specifications;
};
const [unitTests, programTests] = vitest.projects;
if (unitTests === undefined || programTests === undefined) throw new Error('expected two vitest projects');
const { cache: _cache, browser: _browser, ...unitTestConfig } = unitTests.config;
const mutantConfig = {
  name: 'mutants',
  runner: join(import.meta.dirname, 'runner.js'),
  /** Prepares the mirrors that tests of the command line copy. */
  globalSetup: programTests.config.globalSetup,
  maxWorkers: 1,
  bail: 1,
  exclude: unitTests.config.exclude.filter(
    pattern => testFolders.length === 0 || !programTests.config.include.includes(pattern),
  ),
  execArgv: ['--no-warnings'],
  experimental: { fsModuleCache: false },
};
/** @type {(text: string, id: string) => string | undefined} */
const transform = (text, id) =>
  id.startsWith(resolve('src/store/')) ? clearCachesWithMutants(code.get(id) ?? text) : code.get(id);
const plugins = [{ name: 'mutants', enforce: 'pre', transform }];
const [project] = await vitest['injectTestProject']([
  { plugins, test: { ...unitTestConfig, ...mutantConfig } },
]);
vitest.projects = [project];
/** The runner records one file for each mutant and for each test in this folder. */
const TMPDIR = mkdtempSync(join(tmpdir(), 'mutants-'));
/** @type {(id: string | number) => string} */
const readRecord = id => (existsSync(`${TMPDIR}/${id}`) ? readFileSync(`${TMPDIR}/${id}`, 'utf8') : '');

/** Each file runs in a process of its own. */
const folders = testFolders.length > 0 ? testFolders : ['test'];
const files = (await vitest.getRelevantTestSpecifications())
  .map(({ moduleId }) => moduleId)
  .filter(file => folders.some(folder => `${file}/`.startsWith(`${resolve(folder)}/`)))
  .toSorted((a, b) => rankFile(a) - rankFile(b));
/** @type {UnitTest[]} */
const tests = [];
/** @type {Map<string, number>} */
const durations = new Map();
for (const [index, file] of files.entries()) {
  process.stderr.write(`${index + 1} of ${files.length}: ${relative('.', file)}\n`);
  const specifications = [project.createSpecification(file)];
  let [state, triesLeft] = ['timed out', 1000];
  while (state === 'timed out' && (triesLeft -= 1)) state = await runTests(specifications, [], Infinity);
  if (state !== 'survived') state = await runTests(specifications, []);
  const [testModule] = specifications.map(specification => specification.testModule);
  const ids = state === 'survived' ? [...(testModule?.children.allTests() ?? [])].map(({ id }) => id) : [];
  tests.push(...ids.flatMap(id => (readRecord(id) ? { file, id, ...JSON.parse(readRecord(id)) } : [])));
  durations.set(file, testModule?.diagnostic().duration ?? 0);
  if (state !== 'survived') process.stderr.write(`skipped, because it fails without a mutant: ${file}\n`);
}
/** Any test that loads one of the remaining mutants probably notices it: the quickest file runs first, with one mutant at a time. */
files.sort((a, b) => (durations.get(a) ?? 0) - (durations.get(b) ?? 0));
const states = mutants.map(({ number }) => readRecord(number));
/** @param {Mutant} mutant */
const isOpen = ({ number }) => !/killed|timed out/.test(states[number] ?? '');
/** @param {Mutant} mutant */
const hasSurvivedOnce = ({ number }) => states[number] === 'survived';
const untried = mutants.filter(mutant => isOpen(mutant) && !hasSurvivedOnce(mutant));
for (const mutant of untried) await runWith([mutant]);
await runWith(mutants.filter(hasSurvivedOnce));

const reached = new Set(tests.flatMap(test => [...test.loaded, ...test.reached]));
const survivors = mutants.filter(isOpen);
const known = survivors.filter(({ key }) => key in reasons);
for (const { number, key, line } of survivors) {
  const state = reached.has(number) ? 'survived' : 'not reached by a test';
  process.stdout.write(`${reasons[key] ?? state}: line ${line} of ${key}\n`);
}
const keys = new Set(places.map(({ key }) => key));
for (const key of Object.keys(reasons).filter(each => each.startsWith(`src/${module}`) && !keys.has(each))) {
  process.stdout.write(`in known.json, but the code has changed: ${key}\n`);
}
const result = {
  module,
  testFolders,
  mutants: mutants.length,
  places: places.length,
  killed: mutants.length - survivors.length,
  survived: survivors.length,
  known: known.length,
};
const seconds = Math.round((Date.now() - startedAt) / 1000);
process.stdout.write(
  `${module}: ${result.mutants} mutants of ${result.places}, ${result.killed} killed, ${result.survived} survived, ${result.known} of them known, ${seconds} s\n`,
);
if (isWritten) writeModule(result, stamp);
await vitest.close();
rmSync(TMPDIR, { recursive: true });
process.exit(known.length === survivors.length ? 0 : 3);

/**
 * Ranks test files: first the unit tests of the module, which are the quickest, then its tests on both engines, then all others.
 * @param {string} file
 */
function rankFile(file) {
  const [folder = ''] = module.split(/[./]/);
  return [`/test/${folder}/`, `/test/contract/${folder}`, ''].findIndex(part => file.includes(part));
}

/**
 * Runs all tests that reach any of several mutants with all of these active. If a test fails, each half is tried alone; mutants that survive
 * together also survive alone.
 * @param {Mutant[]} several
 */
async function runWith(several) {
  const needed = tests.filter(test => several.some(mutant => mayNotice(test, mutant)));
  const specifications = files.flatMap(file => {
    const testIds = needed.filter(test => test.file === file).map(({ id }) => id);
    return testIds.length > 0 ? project.createSpecification(file, { testIds }) : [];
  });
  const state = specifications.length > 0 ? await runTests(specifications, several) : 'survived';
  if (state === 'survived') return;
  const [first, ...others] = several;
  if (first !== undefined && others.length === 0) states[first.number] = state;
  else for (const half of [several.splice(0, several.length / 2), several]) await runWith(half);
}

/**
 * Returns whether a test can notice a mutant that it has not been run with. A repeated test has run with all its mutants, but code that runs
 * while a file loads is only executed once per process.
 * @param {UnitTest} test
 * @param {Mutant} mutant
 */
function mayNotice(test, { number }) {
  if (test.loaded.includes(number)) return true;
  return test.reached.includes(number) && !(test.isRepeated && states[number] === 'survived');
}

/**
 * @param {TestSpecification[]} specifications
 * @param {readonly Mutant[]} active
 * @param {number} [retry]
 * @returns {Promise<'survived' | 'killed' | 'timed out'>}
 */
async function runTests(specifications, active, retry = 0) {
  const env = { TMPDIR, MUTANTS: JSON.stringify(active.map(({ number }) => number)) };
  Object.assign(project.config, { retry, env });
  const { unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const errors = unhandledErrors.filter(error => error instanceof Error);
  const poolError = errors.find(({ message }) => message.startsWith('[vitest-pool'));
  if (poolError) {
    const isExit = poolError.cause instanceof Error && /exited/.test(poolError.cause.message);
    return isExit ? 'timed out' : runTests(specifications, active, retry);
  }
  const hasPassed =
    unhandledErrors.length === 0 && specifications.every(({ testModule }) => testModule?.ok());
  return hasPassed ? 'survived' : 'killed';
}
