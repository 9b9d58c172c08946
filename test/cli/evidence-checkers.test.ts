import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkFolder } from '../support/evidence-folder.js';
import { alterFile, openExportableLog } from '../support/exported-evidence.js';
import { temporaryFolder } from '../support/inbox.js';
import { listCodeBlocks } from '../support/readme.js';
import { BOTH_ENGINES } from '../support/mirror/open.js';

const ROOT = join(import.meta.dirname, '../..');
const CHECKERS = ['check.html', 'check.mjs'];

/** Runs check.mjs as an auditor would, in a folder that has nothing to do with the project. */
function runChecker(...argv: string[]) {
  const program = join(ROOT, 'dist/check.mjs');
  const options = { cwd: temporaryFolder(), encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], options);
  return { status, stdout, stderr };
}

async function exportFolder(...argv: string[]) {
  const [engine] = BOTH_ENGINES;
  if (engine === undefined) throw new Error('expected an engine');
  const log = await openExportableLog(engine);
  const { folder } = await log.write('organization-1', '--since', log.older, ...argv);
  return { ...log, folder };
}

test('T93 check.mjs prints what verify --evidence prints, and exits with 0, 3 or 2', async () => {
  const { folder, hex, older } = await exportFolder();
  const { output } = await checkFolder(folder, hex, older);
  expect(runChecker(folder, hex, older)).toEqual({ status: 0, stdout: output, stderr: '' });
  expect(runChecker(folder, 'a1'.repeat(32))).toMatchObject({
    status: 3,
    stdout: expect.stringMatching(/\nVerdict: not verified\n$/),
  });
  alterFile(folder, 'evidence.jsonl', text => text.replace('Voluntary', 'voluntary'));
  const forged = runChecker(folder, hex, older);
  expect(forged).toMatchObject({ status: 3, stderr: '' });
  expect(forged.stdout).toMatch(/^Fault: the leaves do not lead to the root of the checkpoint$/m);
  expect(forged.stdout).not.toContain('Retirements');
  for (const argv of [
    [],
    [join(folder, 'missing'), hex],
    [folder, hex, '/missing'],
    [folder, hex, older, 'x'],
  ])
    expect(runChecker(...argv)).toMatchObject({ status: 2, stdout: 'Verdict: could not be checked\n' });
});

test('T93 docs/check-evidence.md shows what check.mjs prints for the example folder', () => {
  const page = readFileSync(join(ROOT, 'docs/check-evidence.md'), 'utf8');
  const example = join(ROOT, 'docs/examples/evidence');
  const [key = ''] = /(?<=^`)[0-9a-f]{64}(?=`\. It prints:$)/m.exec(page) ?? [];
  const { status, stdout } = runChecker(join(example, 'folder'), key, join(example, 'checkpoint.txt'));
  expect({ status, stdout }).toEqual({ status: 0, stdout: listCodeBlocks(page, 'text')[0] });
  const readText = (file: string) => readFileSync(join(ROOT, 'docs', file), 'utf8');
  expect(readText('examples/evidence/folder/README.txt')).toBe(readText('evidence.txt'));
});

test('T93 check.mjs exits with 1 if its verdict cannot be written', async () => {
  const { folder, hex } = await exportFolder();
  const full = openSync('/dev/full', 'w');
  const program = [join(ROOT, 'dist/check.mjs'), folder, hex];
  const { status } = spawnSync(process.execPath, program, { stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  expect(status).toBe(1);
});

test('T93 a text of the folder is never run as a command, and control characters are shown as codes', async () => {
  const { folder, hex } = await exportFolder();
  const trace = join(temporaryFolder(), 'trace');
  alterFile(folder, 'checkpoint.txt', text => text.replace(/^[^\n]+/, `\u001b[2J$(touch ${trace})`));
  mkdirSync(join(folder, 'a\u202e;touch x'));
  const { status, stdout } = runChecker(folder, hex);
  expect(status).toBe(3);
  expect(stdout).not.toContain('\u001b');
  expect(readdirSync(join(trace, '..'))).toEqual([]);
});

/** Update the documents with `npx vitest run test/cli/evidence-checkers.test.ts -u` after a build. */
test.each(['CHANGELOG.md', 'docs/check-evidence.md'])(
  'T93 %s states the SHA-256 of check.html and check.mjs',
  async name => {
    let text = readFileSync(join(ROOT, name), 'utf8');
    for (const file of CHECKERS) {
      const hash = createHash('sha256')
        .update(readFileSync(join(ROOT, 'dist', file)))
        .digest('hex');
      text = text.replace(new RegExp(`(${file}[: ]+)[0-9a-f]{64}`), `$1${hash}`);
      expect(text).toContain(hash);
    }
    await expect(text).toMatchFileSnapshot(join(ROOT, name));
  },
);

test('T93 check.html may use no network, and neither checker imports anything but parts of Node', () => {
  const page = readFileSync(join(ROOT, 'dist/check.html'), 'utf8');
  expect(page).toMatch(
    /content="default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'"/,
  );
  expect(page).not.toMatch(/\b(?:src|href)="|https?:|\bimport\b|innerHTML|\beval\b/);
  const program = readFileSync(join(ROOT, 'dist/check.mjs'), 'utf8');
  expect(program.match(/^import .*$/gm)).toEqual([
    expect.stringContaining('"node:fs"'),
    expect.stringContaining('"node:fs/promises"'),
  ]);
  expect(program).not.toMatch(/\b(?:eval|child_process|fetch|Function)\b/);
});

test('T93 no help text or document tells readers to run or open a file out of a folder', () => {
  const files = ['docs', 'src/cli', 'src/evidence', 'test/fixtures/approved'].flatMap(folder =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && !entry.name.endsWith('.png'))
      .map(entry => join(entry.parentPath, entry.name)),
  );
  const wrong = files.filter(file => /check\.sh|sh \.\/|cd evidence/i.test(readFileSync(file, 'utf8')));
  expect(wrong).toEqual([]);
});
