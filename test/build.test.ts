import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from './support/inbox.js';
import { long } from './support/long.js';

const ROOT = join(import.meta.dirname, '..');
const PARTS = Array.from({ length: 60 }, (_, i) => `part-${i}`);

/** Modules that are started as processes or threads of their own. */
const OTHERS = [
  'app/receiver-thread',
  'app/seal-thread',
  'app/events/event-thread',
  'store/sqlite/mirror/mirror-thread',
  'store/sqlite/sql-query/query-process',
  'store/sqlite/sql-query/query-watchdog',
];
const DRIVER = 'store/sqlite/driver';

let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'carbon-mirror-build-'));
  createProject(project);
  expect(build(project)).toEqual({ status: 0, output: '' });
});

afterAll(() => rmSync(project, { recursive: true }));

/** Copies the project that was built once for all tests. */
function builtProject(): string {
  const folder = join(temporaryFolder(), 'project');
  cpSync(project, folder, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  return folder;
}

/** The build of ours and a program of its own, which loads every part. */
function createProject(folder: string): void {
  for (const name of ['tools/build.js', 'tsconfig.json']) cpSync(join(ROOT, name), join(folder, name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const name of ['src/parts', 'migrations']) mkdirSync(join(folder, name), { recursive: true });
  for (const other of [...OTHERS, DRIVER]) {
    mkdirSync(join(folder, 'src', dirname(other)), { recursive: true });
    writeFileSync(join(folder, `src/${other}.ts`), 'export {};\n');
  }
  const imports = PARTS.map(part => `import('./parts/${part}.js')`);
  writeFileSync(
    join(folder, 'src/main.ts'),
    `if (process.argv[2] === 'later') {
       console.log('started');
       for await (const _ of process.stdin) break;
       console.log((await import('./parts/part-0.js')).text);
     } else console.log((await Promise.all([${imports.join()}])).length);`,
  );
  writeParts(folder, 'first');
}

function writeParts(folder: string, text: string): void {
  for (const part of PARTS) {
    writeFileSync(join(folder, `src/parts/${part}.ts`), `export const text: string = '${text}';\n`);
  }
}

function build(folder: string, env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/build.js'], {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

const inDist = (folder: string): string[] =>
  readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' }).toSorted();
const stamps = (folder: string): string[] =>
  inDist(folder).map(name => {
    const { ino, mtimeMs } = statSync(join(folder, 'dist', name));
    return `${name} ${ino} ${mtimeMs}`;
  });

long.test(
  'a program that starts again and again while dist/ is built anew always finds all of it',
  async () => {
    const folder = builtProject();
    for (const text of ['second', 'third']) {
      writeParts(folder, text);
      const building = spawn(process.execPath, ['tools/build.js'], { cwd: folder, stdio: 'inherit' });
      const built = once(building, 'exit');
      let starts = 0;
      while (building.exitCode === null) {
        const started = spawn(process.execPath, ['dist/main.js'], { cwd: folder, stdio: 'pipe' });
        const [printed, [code]] = await Promise.all([
          started.stdout.setEncoding('utf8').toArray(),
          once(started, 'exit'),
        ]);
        expect({ code, printed: printed.join('') }).toEqual({ code: 0, printed: '60\n' });
        starts += 1;
      }
      expect(await built).toEqual([0, null]);
      expect(starts).toBeGreaterThan(1);
    }
  },
);

test('a program that runs during a build later loads the files of its own version', async () => {
  const folder = builtProject();
  const running = spawn(process.execPath, ['dist/main.js', 'later'], { cwd: folder, stdio: 'pipe' });
  const [started] = await once(running.stdout.setEncoding('utf8'), 'data');
  expect(started).toBe('started\n');

  writeParts(folder, 'second');
  expect(build(folder)).toEqual({ status: 0, output: '' });
  running.stdin.end('go on');
  const [printed] = await Promise.all([running.stdout.toArray(), once(running, 'exit')]);
  expect(printed.join('')).toBe('first\n');
});

test.each(OTHERS)(
  'dist/src/%s.js imports the bundle, so that unbundled code loads the same module',
  other => {
    const started = join(project, `dist/src/${other}.js`);
    const [, named = ''] = /import '(.*)'/.exec(readFileSync(started, 'utf8')) ?? [];
    expect(relative(project, join(dirname(started), named))).toMatch(/^dist\/program-\w+\/[\w-]+\.js$/);
    expect(existsSync(join(dirname(started), named))).toBe(true);
  },
);

long.test(
  'the previous bundle stays for programs that run it, is not packaged, and is removed by the next build',
  () => {
    const folder = builtProject();
    const programs = () => inDist(folder).filter(name => /^program-\w+$/.test(name));
    const [first = ''] = programs();
    writeParts(folder, 'second');
    build(folder);
    const both = programs();
    expect(both).toHaveLength(2);
    expect(readdirSync(join(folder, 'dist', first))).toContain('.npmignore');
    writeParts(folder, 'third');
    build(folder);
    expect(programs()).not.toContain(first);
    expect(programs()).toHaveLength(2);

    writeParts(folder, 'second');
    build(folder);
    const [second = ''] = both.filter(name => name !== first);
    expect(readdirSync(join(folder, 'dist', second))).not.toContain('.npmignore');
  },
);

test('a second build of the same sources changes no file and needs no compiler', () => {
  const folder = builtProject();
  const before = stamps(folder);
  rmSync(join(folder, 'node_modules'));
  expect(build(folder)).toEqual({ status: 0, output: '' });
  expect(stamps(folder)).toEqual(before);

  writeParts(folder, 'second');
  const { status, output } = build(folder);
  expect(status).toBe(1);
  expect(output).toBe('dist/ is out of date, and the TypeScript compiler is not installed. Run npm ci.\n');
  expect(stamps(folder)).toEqual(before);
});

long.test('a build removes files without a source and restores missing ones', () => {
  const folder = builtProject();
  writeFileSync(join(folder, 'src/main.ts'), "console.log((await import('./parts/part-1.js')).text);\n");
  for (const part of PARTS.slice(2)) rmSync(join(folder, `src/parts/${part}.ts`));
  expect(build(folder)).toEqual({ status: 0, output: '' });
  const parts = inDist(folder).filter(name => name.startsWith('src/parts/'));
  expect(parts).toEqual(
    [0, 1].flatMap(i => ['d.ts', 'js', 'js.map'].map(end => `src/parts/part-${i}.${end}`)),
  );
  expect(inDist(folder)).not.toContain('src/main.js.map');
  expect(statSync(join(folder, 'dist/main.js')).mode & 0o777).toBe(0o755);

  const [, program = ''] = /(program-\w+)/.exec(readFileSync(join(folder, 'dist/main.js'), 'utf8')) ?? [];
  const [chunk = ''] = inDist(folder).filter(name => name.startsWith(`${program}/part-1-`));
  for (const file of ['src/parts/part-1.js', chunk, 'main.js']) {
    rmSync(join(folder, 'dist', file));
    expect(build(folder)).toEqual({ status: 0, output: '' });
    expect(inDist(folder)).toContain(file);
  }
});

test('sources that do not compile leave dist/ unchanged and no temporary folder', () => {
  const folder = builtProject();
  const before = stamps(folder);
  writeFileSync(join(folder, 'src/parts/part-1.ts'), "export const text: number = 'no number';\n");
  const { status, output } = build(folder);
  expect(status).toBeGreaterThan(0);
  expect(output).toContain("Type 'string' is not assignable to type 'number'");
  expect(stamps(folder)).toEqual(before);
  expect(readdirSync(folder).filter(name => name.startsWith('.dist'))).toEqual([]);
  expect(existsSync(join(folder, 'dist/main.js'))).toBe(true);
});

test('T86 a build ends with one sentence if the driver cannot be loaded, and with none if it was omitted on purpose', () => {
  const folder = builtProject();
  writeFileSync(join(folder, `src/${DRIVER}.ts`), "throw new Error('No driver.\\nTake one.');\nexport {};\n");
  const told = { status: 1, output: 'No driver.\nTake one.\n' };
  expect(build(folder), 'built anew').toEqual(told);
  expect(inDist(folder)).toContain('.sources-sha256');
  expect(build(folder), 'built before').toEqual(told);
  expect(build(folder, { npm_config_omit: 'dev\n\noptional' })).toEqual({ status: 0, output: '' });
  expect(build(folder, { npm_config_omit: 'dev' })).toEqual(told);

  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  // npm ci runs `prepublish` too. Unlike `prepare`, npm does not offer to run it for an installed package.
  expect(scripts).toMatchObject({ prepublish: 'node tools/build.js', build: 'node tools/build.js' });
  expect(scripts.pretest).toMatch(/^npm run build && /);
});
