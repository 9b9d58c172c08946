import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './support/inbox.js';

const SCRIPT = join(import.meta.dirname, '../tools/release.js');
const HEAD = '| benchmark | figure | measured | target | commit, day, machine |\n|---|---|---|---|---|\n';

const PROMISES = '- **P01** It holds.\n';
const PROOFS = '| promise or torture test | result | commit, day |\n|---|---|---|\n';

/** Creates a repository with one benchmark, `evidence`, and one promise, whose figure and proof are as old as the source. */
function createRepository() {
  const folder = temporaryFolder();
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
  const git = (...words: string[]) =>
    execFileSync('git', [...identity, ...words], { cwd: folder, encoding: 'utf8' }).trim();
  const commit = (files: Readonly<Record<string, string>>, subject: string) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder, dirname(name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    git('add', '--all');
    git('commit', '--quiet', '--message', subject);
    return git('rev-parse', '--short=7', 'HEAD');
  };
  const measure = (at: string, target = 'at most 2') =>
    commit(
      {
        'docs/figures.md': `${HEAD}| evidence | leaves | 1.00 | ${target} | ${at}, 2026-01-01, a machine |\n`,
      },
      'docs: write figures',
    );
  const prove = (at: string, names = ['P01', 'torture fleet 200000 15']) =>
    commit(
      {
        'docs/promises.md': `${PROMISES}${PROOFS}${names.map(name => `| ${name} | 2 passed | ${at}, 2026-01-01 |\n`).join('')}`,
      },
      'docs: write proofs',
    );
  const release = () => spawnSync(process.execPath, [SCRIPT], { cwd: folder, encoding: 'utf8' });
  git('init', '--quiet', '--initial-branch=main');
  const first = commit(
    {
      'package.json': '{ "version": "1.0.0" }',
      'CHANGELOG.md': '# Changelog\n\n## 1.0.0 (2026-01-02)\n',
      'src/evidence/seal.ts': '// first',
      'test/bench/evidence.js': '',
      'test/bench/run.js': '',
    },
    'evidence: begin',
  );
  measure(first);
  prove(first);
  return { git, commit, measure, prove, release };
}

test('a release is possible if every figure and proof is newer than the last change of what it speaks of', () => {
  const { commit, prove, release } = createRepository();
  prove(commit({ 'src/console/page.ts': 'page();' }, 'console: change what evidence does not measure'));
  expect(release()).toMatchObject({ status: 0, stdout: expect.stringContaining('git tag v1.0.0') });
});

test('a change of comments outdates no figure', () => {
  const { commit, release } = createRepository();
  commit({ 'src/evidence/seal.ts': '// first and last\n/** Seals.\n * Twice.\n */' }, 'evidence: explain');
  expect(release()).toMatchObject({ status: 0 });
});

test.each<
  [title: string, change: (repository: ReturnType<typeof createRepository>) => unknown, reason: RegExp]
>([
  [
    'a figure is older than the last change of its module',
    ({ commit }) => commit({ 'src/evidence/seal.ts': 'seal(); // second' }, 'evidence: seal faster'),
    /evidence: its figures are of \w{7}, and later came \w+ evidence: seal faster: run "npm run bench -- --write evidence"/,
  ],
  ['a figure is of an unknown commit', ({ measure }) => measure('0000000'), /no commit before this one/],
  [
    'a figure missed its target',
    ({ git, measure }) => measure(git('rev-parse', '--short=7', 'HEAD'), 'at most 2: missed'),
    /"leaves" missed its target/,
  ],
  [
    'a promise was last proved before the program changed',
    ({ commit }) => commit({ 'src/console/page.ts': 'page();' }, 'console: add a page'),
    /P01, torture fleet 200000 15: its last proof is of \w{7}, and later came \w+ console: add a page: run/,
  ],
  [
    'a promise has no proof',
    ({ git, prove }) => prove(git('rev-parse', '--short=7', 'HEAD'), []),
    /has no proof of P01, torture fleet 200000 15: run "npm run prove -- all --write" and "npm run torture -- fleet 200000 15 --write"/,
  ],
  [
    'a benchmark has no figures',
    ({ commit }) => commit({ 'test/bench/sync.js': '' }, 'bench: measure syncs'),
    /sync has no figures/,
  ],
  [
    'nobody said what a benchmark measures',
    ({ commit }) => commit({ 'test/bench/moon.js': '' }, 'bench: measure the moon'),
    /does not say which folders moon measures/,
  ],
  [
    'the changelog does not date the version',
    ({ commit }) => commit({ 'CHANGELOG.md': '## 1.0.0 (not released yet)\n' }, 'docs: describe'),
    /does not date 1\.0\.0/,
  ],
  ['the version is tagged already', ({ git }) => git('tag', 'v1.0.0'), /tag of this version exists already/],
])('a release is refused if %s', (_title, change, reason) => {
  const repository = createRepository();
  change(repository);
  expect(repository.release()).toMatchObject({ status: 1, stdout: expect.stringMatching(reason) });
});

test('a release is refused if there are uncommitted changes', () => {
  const { release, git } = createRepository();
  git('rm', '--quiet', 'src/evidence/seal.ts');
  expect(release()).toMatchObject({ status: 1, stdout: expect.stringContaining('uncommitted changes') });
});
