// npm run mutants -- ROOM: breaks src/ROOM in one place after the other, and tells what no law notices.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { createVitest } from 'vitest/node';
import { mutate } from './mutate.js';

const STATES_TOLD = ['killed', 'timed out', 'survived', 'not reached'];
const LIMITS = { testTimeout: 60_000, expect: { poll: { timeout: 10_000 } } };
const options = { sample: { type: 'string' }, seed: { type: 'string', default: '1' } };
const { values, positionals: rooms } = parseArgs({ allowPositionals: true, options });
if (rooms.length === 0) throw new Error('usage: mutants -- ROOM|FILE [--sample 50] [--seed 1]');
const root = process.cwd();
const known = JSON.parse(readFileSync('test/mutants/known.json', 'utf8'));
/** No file of src is written: all mutants are compiled in at once, and each place asks whether it lives. */
const code = new Map();
const places = [];
for (const room of rooms) for (const file of filesOf(room)) addPlaces(room, file);
const asked = rooms.flatMap(askedOf);
/** What became of a mutant is a file: the process that writes it may end at any time. */
const TMPDIR = mkdtempSync(join(tmpdir(), 'mutants-'));
const STATES = join(TMPDIR, 'state-');
for (const { number } of places.filter(place => !asked.includes(place)))
  writeFileSync(STATES + number, 'not asked');
const lanes = await Promise.all(Array.from({ length: availableParallelism() }, openLane));
const specifications = await lanes[0].getRelevantTestSpecifications();
const laws = [];
await inLanes(
  nearestFirst(
    specifications.map(one => ({ id: one.moduleId })),
    rooms,
  ),
  readLaw,
);
await inLanes(asked.filter(isOpen), askAlone);
await Promise.all(lanes.map(lane => lane.close()));
const told = asked.map(tell);
console.table(rooms.map(countsOf));
rmSync(TMPDIR, { recursive: true });
process.exit(told.every(({ state, reason }) => /^(killed|timed)/.test(state) || reason) ? 0 : 3);

function filesOf(room) {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(file =>
    file.endsWith('.ts'),
  );
  return files.filter(file => `${file}/`.startsWith(`${room}/`)).map(file => join('src', file));
}

function addPlaces(room, file) {
  const made = mutate(readFileSync(file, 'utf8'), places.length);
  code.set(join(root, file), made.code);
  places.push(...made.mutants.map(mutant => ({ room, file, ...mutant })));
}

function askedOf(room) {
  const lotOf = ({ number }) => (Math.sin(number + Number(values.seed)) * 1e6) % 1;
  const mutants = places.filter(place => place.room === room).toSorted((a, b) => lotOf(a) - lotOf(b));
  const drawn = mutants.slice(0, Number(values.sample ?? mutants.length));
  return drawn.toSorted((a, b) => a.number - b.number);
}

async function openLane() {
  const only = { root, watch: false, reporters: [{}], project: ['laws', 'mutants'] };
  const lane = await createVitest('test', only, { logLevel: 'silent' });
  const { include, exclude, setupFiles } = lane.projects[0].config;
  const test = { name: 'mutants', include, exclude, setupFiles, maxWorkers: 1, ...LIMITS };
  Object.assign(test, {
    runner: join(import.meta.dirname, 'runner.js'),
    experimental: { fsModuleCache: false },
  });
  const plugins = [{ name: 'mutants', enforce: 'pre', transform: (_text, id) => code.get(id) }];
  lane.projects = await lane.injectTestProject([{ root, plugins, test }]);
  lane.config.related = [...code.keys()];
  return lane;
}

async function inLanes(things, ask) {
  const left = [...things];
  const empty = async lane => {
    while (left.length > 0) await ask(left.shift(), lane);
  };
  await Promise.all(lanes.map(empty));
}

function nearestFirst(files, names) {
  const isNear = id => names.some(name => id.includes(basename(name, '.ts')));
  return files.map(({ id }) => id).toSorted((a, b) => isNear(b) - isNear(a));
}

async function run(lane, ids, env, config) {
  const [project] = lane.projects;
  Object.assign(project.config, config, { env: { NODE_NO_WARNINGS: '1', TMPDIR, STATES, ...env } });
  const { unhandledErrors } = await lane.runTestSpecifications(
    ids.map(id => project.createSpecification(id)),
  );
  const modules = lane.state.getTestModules().filter(module => ids.includes(module.moduleId));
  return { modules, isGreen: unhandledErrors.length === 0 && modules.every(module => module.ok()) };
}

/** A law alone, with each mutant that it reaches. As often as one ends its process, it begins again without that one. */
async function readLaw(id, lane) {
  for (let tries = 0; tries <= places.length; tries += 1) {
    const { modules } = await run(lane, [id], {}, { isolate: true, bail: 0 });
    const { inside, outside, isRed } = modules[0]?.meta() ?? {};
    if (isRed) return console.error(`left out, as it is red without a mutant: ${id}`);
    if (inside)
      return laws.push({ id, outside: new Set(outside), reached: new Set([...inside, ...outside]) });
  }
  throw new Error(`ends, and does not say why: ${id}`);
}

/** What was asked as a file was loaded lives from there on: no test asks for it again. */
function isOpen(place) {
  const isLoaded = laws.some(({ outside }) => outside.has(place.number));
  return stateOf(place) === 'doubtful' || (stateOf(place) === 'survived' && isLoaded);
}

async function askAlone({ number, file }, lane) {
  const reaching = laws.filter(({ reached }) => reached.has(number));
  const ids = nearestFirst(reaching, [file]);
  const { isGreen } = await run(lane, ids, { MUTANT: String(number) }, { isolate: false, bail: 1 });
  if (stateOf({ number }) !== 'timed out') writeFileSync(STATES + number, isGreen ? 'survived' : 'killed');
}

function stateOf({ number }) {
  if (existsSync(STATES + number)) return readFileSync(STATES + number, 'utf8');
  return laws.some(({ reached }) => reached.has(number)) ? 'survived' : 'not reached';
}

function tell(place) {
  const { file, line, original, mutated } = place;
  const state = stateOf(place);
  const isIt = one => one.file === file && one.original === original && one.mutated === mutated;
  const reason = known.find(isIt)?.reason;
  if (/^(survived|not)/.test(state))
    console.log(`${file}:${line} ${reason ?? state}\n    ${original}\n    ${mutated}`);
  return { ...place, state, reason };
}

function countsOf(room) {
  const counts = { room, places: places.filter(place => place.room === room).length };
  for (const state of STATES_TOLD)
    counts[state] = told.filter(place => place.room === room && place.state === state).length;
  return counts;
}
