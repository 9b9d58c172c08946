// npm run mutants -- ROOM: breaks src/ROOM in one place after the other, and tells what no law notices.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createVitest } from 'vitest/node';
import { mutate } from './mutate.js';

const STATES = ['killed', 'timed out', 'survived', 'not reached'];
const LIMITS = { testTimeout: 60_000, expect: { poll: { timeout: 10_000 } } };
const root = process.cwd();
const options = { sample: { type: 'string' }, seed: { type: 'string' }, json: { type: 'boolean' } };
const { values, positionals: rooms } = parseArgs({ allowPositionals: true, options });
if (rooms.length === 0) throw new Error('usage: mutants -- ROOM|FILE [--sample 50] [--seed 1] [--json]');
const known = JSON.parse(readFileSync(join(root, 'test/mutants/known.json'), 'utf8'));
/** No file is written: all mutants are compiled in at once, and the environment says which one lives. */
const code = new Map();
const all = rooms.map(room => ({ room, mutants: filesOf(room).flatMap(mutantsOf) }));
const { vitest, laws } = await openLaws();
const tried = [];
for (const { room, mutants } of all)
  for (const mutant of sampleOf(mutants)) tried.push(tell({ room, ...mutant, state: await judge(mutant) }));
await vitest.close();
const sums = all.map(({ room, mutants }) => {
  const countOf = state => tried.filter(mutant => mutant.room === room && mutant.state === state).length;
  return {
    room,
    places: mutants.length,
    ...Object.fromEntries(STATES.map(state => [state, countOf(state)])),
  };
});
const survivors = tried.filter(({ state }) => STATES.indexOf(state) > 1);
if (values.json) process.stdout.write(`${JSON.stringify({ rooms: sums, survivors }, null, 2)}\n`);
else console.table(sums);
process.exit(survivors.every(({ reason }) => reason) ? 0 : 3);

function filesOf(room) {
  if (room.endsWith('.ts')) return [join('src', room.replace(/^src\//, ''))];
  const files = readdirSync(join(root, 'src', room), { recursive: true, encoding: 'utf8' });
  return files.filter(file => file.endsWith('.ts')).map(file => join('src', room, file));
}

function mutantsOf(file) {
  const made = mutate(readFileSync(join(root, file), 'utf8'), code.size * 100_000);
  code.set(join(root, file), made.code);
  return made.mutants.map(mutant => ({ file, ...mutant }));
}

function sampleOf(mutants) {
  const lotOf = ({ number }) => (Math.sin(number + Number(values.seed ?? 1)) * 1e6) % 1;
  return mutants.toSorted((a, b) => lotOf(a) - lotOf(b)).slice(0, Number(values.sample ?? mutants.length));
}

/** The laws that import what is mutated, each run once, alone and with no mutant alive, for what it reaches. */
async function openLaws() {
  const asked = { root, watch: false, reporters: [{}], project: ['laws', 'mutants'] };
  const opened = await createVitest('test', asked, { logLevel: 'silent' });
  const { include, exclude, setupFiles: before } = opened.projects[0].config;
  const setupFiles = [...before, join(import.meta.dirname, 'reach.js')];
  const test = { name: 'mutants', include, exclude, setupFiles, experimental: { fsModuleCache: false } };
  const plugins = [{ name: 'mutants', enforce: 'pre', transform: (_text, id) => code.get(id) }];
  opened.projects = await opened.injectTestProject([{ root, plugins, test: { ...test, ...LIMITS } }]);
  opened.config.related = [...code.keys()];
  const { testModules } = await opened.runTestSpecifications(await opened.getRelevantTestSpecifications());
  const red = testModules.filter(module => !module.ok());
  for (const { moduleId } of red) console.error(`left out, as it is red without a mutant: ${moduleId}`);
  Object.assign(opened.projects[0].config, { isolate: false, bail: 1, maxWorkers: 1 });
  const green = testModules.filter(module => module.ok());
  return { vitest: opened, laws: green.map(module => ({ id: module.moduleId, ...module.meta() })) };
}

/** What is reached as a file is loaded concerns all that load it. What noticed one before is asked first. */
async function judge({ number }) {
  const ids = laws.filter(({ reached }) => reached.includes(number)).map(({ id }) => id);
  if (ids.length === 0) return 'not reached';
  process.env.MUTANT = String(number);
  const giveUp = () => vitest.cancelCurrentRun('test-failure');
  const endMs = Date.now() + 20_000 + 10_000 * ids.length;
  const timer = setTimeout(() => [giveUp(), giveUp()], endMs - Date.now());
  const given = ids.map(id => vitest.projects[0].createSpecification(id));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(given);
  clearTimeout(timer);
  if (Date.now() >= endMs) return 'timed out';
  const isRed = testModules.some(module => ids.includes(module.moduleId) && !module.ok());
  return isRed || unhandledErrors.length > 0 ? 'killed' : 'survived';
}

function tell(mutant) {
  const { file, line, original, mutated, state } = mutant;
  if (STATES.indexOf(state) < 2) return mutant;
  const isIt = one => one.file === file && one.original === original && one.mutated === mutated;
  const reason = known.find(isIt)?.reason;
  if (!values.json) console.log(`${file}:${line} ${reason ?? state}\n    ${original}\n    ${mutated}`);
  return { ...mutant, reason };
}
