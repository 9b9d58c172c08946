// npm run release: says what still keeps this commit from being released, or how to release it. It changes nothing.
// Each figure of docs/figures.md must be newer than the last change of the folders that it measures, and the last proof of each promise
// must be newer than the last change of the program.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { listPromises, readProofs } from './last-proofs.js';

/**
 * The folders whose changes make the figures of a benchmark outdated.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const MEASURED_FOLDERS = {
  aged: ['src/query', 'src/store', 'migrations'],
  api: ['src/api', 'src/query'],
  changes: ['src/store', 'src/query/history', 'migrations'],
  claims: ['src/inbox', 'src/store/inbox', 'src/store/postgres', 'src/store/sqlite'],
  client: ['src/registry'],
  console: ['src/console', 'src/query'],
  disk: ['src/store', 'migrations'],
  events: ['src/events', 'src/app/events', 'src/store/events'],
  evidence: ['src/evidence'],
  fleet: ['src/sync', 'src/inbox', 'src/store'],
  query: ['src/query', 'src/cli', 'migrations'],
  receive: ['src/webhook', 'src/store/inbox', 'src/store/sqlite'],
  sandbox: ['src/sandbox'],
  sync: ['src/sync', 'src/mirror', 'src/registry', 'src/store'],
};
/** Files and folders whose changes make every proof outdated, because promises are about the whole program. */
const PROGRAM = ['src', 'migrations', 'package-lock.json', 'tools/build.js'];
/** The torture test that a release needs. It runs the built program. */
const FLEET_RUN = 'torture fleet 200000 15';
const AGAIN = `run "npm run prove -- all --write" and "npm run ${FLEET_RUN.replace(' ', ' -- ')} --write"`;
const NOT_BENCHES = new Set(['run.js']);

const { version } = readPackage();
const tag = `v${version}`;
const obstacles = [
  ...findGitObstacles(),
  ...findChangelogObstacles(),
  ...findFigureObstacles(),
  ...findProofObstacles(),
];
if (obstacles.length > 0) {
  process.stdout.write(`${tag} cannot be released yet:\n${obstacles.map(line => `- ${line}\n`).join('')}`);
  process.exitCode = 1;
} else {
  process.stdout.write(
    `${tag} can be released. Run .ci/run once more on a fresh clone, then: git tag ${tag} && git push origin ${tag}\n` +
      'The workflow "release" then publishes the package with its provenance, and the image.\n',
  );
}

/** @returns {{ version: string }} */
function readPackage() {
  return JSON.parse(readFileSync('package.json', 'utf8'));
}

function findGitObstacles() {
  const changed = git(['status', '--porcelain']);
  const isShallow = git(['rev-parse', '--is-shallow-repository']).trim() === 'true';
  const isTagged = git(['tag', '--list', tag]) !== '';
  return [
    ...(changed === ''
      ? []
      : ['There are uncommitted changes: commit them, so that the tag names what was checked.']),
    ...(isShallow ? ['This clone is shallow, so figures cannot be dated: run "git fetch --unshallow".'] : []),
    ...(isTagged ? ['The tag of this version exists already: raise the version in package.json.'] : []),
  ];
}

function findChangelogObstacles() {
  const heading = readFileSync('CHANGELOG.md', 'utf8')
    .split('\n')
    .find(line => line.startsWith(`## ${version} `) || line === `## ${version}`);
  if (heading === undefined) return [`CHANGELOG.md has no heading for ${version}: describe what changed.`];
  const isDated = /\(\d{4}-\d{2}-\d{2}\)$/.test(heading);
  return isDated ? [] : [`CHANGELOG.md does not date ${version}: write "## ${version} (YYYY-MM-DD)".`];
}

/** Returns one line for each benchmark that has no figures, figures that missed their target, or outdated ones. */
function findFigureObstacles() {
  const figures = readFigures();
  return listBenches().flatMap(bench => {
    const own = figures.filter(figure => figure.bench === bench);
    const again = `run "npm run bench -- --write ${bench}"`;
    const folders = MEASURED_FOLDERS[bench];
    if (folders === undefined)
      return [`tools/release.js does not say which folders ${bench} measures: add them.`];
    if (own.length === 0) return [`${bench} has no figures: ${again}.`];
    const missed = own.filter(({ target }) => target.endsWith(': missed'));
    const outdated = own
      .map(({ commit }) => describeOutdated(commit, 'figures are', folders))
      .find(words => words !== null);
    return [
      ...missed.map(({ name }) => `${bench}: "${name}" missed its target.`),
      ...(outdated === undefined ? [] : [`${bench}: ${outdated}: ${again}.`]),
    ];
  });
}

/** Returns one line for all promises and torture tests that were never proved, and one for each outdated run. */
function findProofObstacles() {
  const proofs = readProofs();
  const required = [...listPromises(), FLEET_RUN];
  const unproved = required.filter(name => proofs.every(proof => proof.name !== name));
  const proved = proofs.filter(({ name }) => required.includes(name));
  const outdated = [...new Set(proved.map(({ stamp }) => stamp))].flatMap(stamp => {
    const names = proved.filter(proof => proof.stamp === stamp).map(({ name }) => name);
    const words = describeOutdated(stamp.split(',')[0] ?? '', 'last proof is', PROGRAM);
    return words === null ? [] : [`${names.join(', ')}: ${words}: ${AGAIN}.`];
  });
  return [
    ...(unproved.length === 0 ? [] : [`docs/promises.md has no proof of ${unproved.join(', ')}: ${AGAIN}.`]),
    ...outdated,
  ];
}

/**
 * Returns why figures or proofs of a commit are outdated; null if they are not.
 * @param {string} commit
 * @param {string} subject
 * @param {readonly string[]} folders
 */
function describeOutdated(commit, subject, folders) {
  if (!isAncestor(commit)) return `its ${subject} of ${commit}, which is no commit before this one`;
  const commits = git(['log', '--reverse', '--format=%h %s', `${commit}..HEAD`, '--', ...folders]).split(
    '\n',
  );
  const last = commits
    .filter(line => line !== '')
    .findLast(line => changesCode(line.split(' ')[0] ?? '', folders));
  return last === undefined ? null : `its ${subject} of ${commit}, and later came ${last}`;
}

/**
 * Returns whether a commit changes more than comments in the folders. Comments do not change what a figure measures.
 * @param {string} commit
 * @param {readonly string[]} folders
 */
function changesCode(commit, folders) {
  return git(['show', '--format=', '--unified=0', '--no-renames', commit, '--', ...folders])
    .split('\n')
    .filter(line => /^[+-](?![+-]{2} )/.test(line))
    .some(line => !/^[+-]\s*(?:\/\/|\/\*\*|\*\/?(?: |$)|$)/.test(line));
}

function readFigures() {
  if (!existsSync('docs/figures.md')) return [];
  return readFileSync('docs/figures.md', 'utf8')
    .split('\n')
    .filter(line => /^\| (?!benchmark )\w/.test(line))
    .map(line => {
      const [bench = '', name = '', , target = '', stamp = ''] = line.slice(2, -2).split(' | ');
      return { bench, name, target, commit: stamp.split(',')[0] ?? '' };
    });
}

function listBenches() {
  return readdirSync('test/bench')
    .filter(file => file.endsWith('.js') && !NOT_BENCHES.has(file))
    .map(file => file.slice(0, -'.js'.length));
}

/** @param {string} commit */
function isAncestor(commit) {
  return spawnSync('git', ['merge-base', '--is-ancestor', commit, 'HEAD'], { stdio: 'ignore' }).status === 0;
}

/** @param {readonly string[]} args */
function git(args) {
  return execFileSync('git', args, { encoding: 'utf8' });
}
