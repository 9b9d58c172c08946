// npm run mutants -- ROOM: breaks src/ROOM in one place after the other, and tells what no law notices.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createVitest } from 'vitest/node';
import { findMutants, withMutants } from './mutate.js';

const options = { sample: { type: 'string' }, seed: { type: 'string', default: '1' } };
const { values, positionals } = parseArgs({ allowPositionals: true, options });
const reasons = JSON.parse(readFileSync('test/mutants/known.json', 'utf8'));
const places = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts') && `${file}/`.startsWith(`${positionals[0]}/`))
  .flatMap(file => findMutants(join('src', file)))
  .map((place, number) => ({ ...place, number, lot: (Math.sin(number + Number(values.seed)) * 1e6) % 1 }));
if (places.length === 0) throw new Error('usage: mutants -- ROOM|FILE [--sample 50] [--seed 1]');
const mutants = places.toSorted((a, b) => a.lot - b.lot).slice(0, values.sample);
const TMPDIR = mkdtempSync(join(tmpdir(), 'mutants-'));
const laws = [];
const lanes = await Promise.all(Array.from({ length: availableParallelism() }, openLane));
const [unread, unasked] = [(await lanes[0].getRelevantTestSpecifications()).values(), mutants.values()];
await Promise.all(lanes.map(readLaws));
await Promise.all(lanes.map(askLaws));
await Promise.all(lanes.map(lane => lane.close()));
rmSync(TMPDIR, { recursive: true });
const alive = places.filter(({ state }) => state === 'survived' || state === 'not reached');
for (const { key, line, state } of alive) console.log(`${reasons[key] ?? state}: line ${line} of ${key}`);
const named = alive.filter(({ key }) => reasons[key]).length;
const countOf = state => [state, mutants.filter(mutant => mutant.state === state).length];
const counts = Object.fromEntries(['killed', 'timed out', 'survived', 'not reached'].map(countOf));
console.table([{ room: positionals[0], places: places.length, ...counts, named }]);
process.exit(named === alive.length ? 0 : 3);

/** No file of src is written: all mutants are compiled in at once, and no law may need another. */
async function openLane() {
  const only = { watch: false, reporters: [{}], project: ['laws', 'mutants'] };
  const lane = await createVitest('test', only, { logLevel: 'silent' });
  const own = { name: 'mutants', runner: join(import.meta.dirname, 'runner.js'), maxWorkers: 1, bail: 1 };
  const { cache: _cache, browser: _browser, ...same } = lane.projects[0].config;
  const test = { ...same, ...own, experimental: { fsModuleCache: false } };
  const code = new Map(mutants.map(({ file }) => [resolve(file), withMutants(file, mutants)]));
  const plugins = [{ name: 'mutants', enforce: 'pre', transform: (_text, id) => code.get(id) }];
  lane.projects = await lane.injectTestProject([{ plugins, test }]);
  lane.projects[0].config.sequence.shuffle = true;
  lane.config.related = [...code.keys()];
  return lane;
}

async function readLaws(lane) {
  for (const { moduleId } of unread) {
    const law = lane.projects[0].createSpecification(moduleId);
    const isGreen = async retry => (await run(lane, [law], { isolate: true, retry })) === 'survived';
    if (!(await isGreen(Infinity)) && !(await isGreen(0)))
      console.error(`left out, as it is red without a mutant: ${moduleId}`);
    else laws.push({ moduleId, tests: [...law.testModule.children.allTests('passed')] });
  }
}

async function askLaws(lane) {
  for (const mutant of unasked) {
    const asked = laws.flatMap(({ moduleId, tests }) => {
      const testIds = tests.filter(test => test.meta().reached.includes(mutant.number)).map(({ id }) => id);
      return testIds.length > 0 ? [lane.projects[0].createSpecification(moduleId, { testIds })] : [];
    });
    const isKilled = existsSync(join(TMPDIR, `killed-${mutant.number}`));
    const alone = () => run(lane, asked, { isolate: false, retry: 0 }, mutant.number);
    mutant.state = isKilled ? 'killed' : asked.length > 0 ? await alone() : 'not reached';
  }
}

async function run(lane, asked, config, mutant = NaN) {
  Object.assign(lane.projects[0].config, config, { env: { TMPDIR, MUTANT: String(mutant) } });
  const { unhandledErrors } = await lane.runTestSpecifications(asked);
  const ended = unhandledErrors.find(({ message }) => message.startsWith('[vitest-pool'));
  if (ended) return /exited/.test(ended.cause?.message) ? 'timed out' : run(lane, asked, config, mutant);
  const isGreen = unhandledErrors.length === 0 && asked.every(({ testModule }) => testModule?.ok());
  return isGreen ? 'survived' : 'killed';
}
