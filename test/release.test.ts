import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './support/inbox.js';

const SCRIPT = join(import.meta.dirname, '../tools/release.js');
const HEAD = '| benchmark | figure | measured | target | commit, day, machine |\n|---|---|---|---|---|\n';

/** Creates a repository with one benchmark, `evidence`, whose figure is as old as its source. */
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
  return { git, commit, measure, release };
}

test('a release is possible when every figure is newer than the last change of what it measures', () => {
  const { commit, release } = createRepository();
  commit({ 'src/console/page.ts': '// other folder' }, 'console: change what evidence does not measure');
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
