import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { installApp, issueCredit, startTemporarySandbox } from '../support/sandbox.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const INSTALLED = 'node_modules/carbon-mirror-client';
/** A compiler without skipLibCheck reads every type of the package. */
const STRICT = ['--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--types', 'node'];
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** An empty project in which the package was installed. */
let project = '';
/** The programs of docs/client-package.md. */
let programs: readonly string[] = [];

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'carbon-client-'));
  const page = await readFile(join(ROOT, 'docs/client-package.md'), 'utf8');
  programs = Array.from(page.matchAll(/```ts\n(.*?)```/gs), ([, program = '']) => program);
  await run(process.execPath, [join(ROOT, 'tools/client-package.js'), project]);
  const [tarball] = (await readdir(project)).filter(name => name.endsWith('.tgz'));
  /** Packages that the project would download, taken from this clone instead. */
  const local = (name: string) => [name, `file:${join(ROOT, 'node_modules', name)}`] as const;
  const manifest = {
    private: true,
    type: 'module',
    dependencies: Object.fromEntries([['carbon-mirror-client', `file:${tarball}`], local('jose')]),
    devDependencies: Object.fromEntries([local('@types/node'), local('undici-types')]),
  };
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund'], { cwd: project });
  return () => rm(project, { recursive: true, force: true });
});

/** Compiles programs and returns what the compiler reports. */
async function compile(...filesAndOptions: string[]): Promise<string> {
  const compiled = run(process.execPath, [TSC, ...STRICT, ...filesAndOptions], { cwd: project });
  return (await compiled.catch((error: { stdout: string }) => error)).stdout;
}

test('P10 the package needs jose alone, contains no source map, and runs no script when it is installed', async () => {
  const read = async (name: string) => JSON.parse(await readFile(join(project, name), 'utf8'));
  const { dependencies, scripts, version } = await read(`${INSTALLED}/package.json`);
  expect(Object.keys(dependencies)).toEqual(['jose']);
  expect(scripts).toBeUndefined();
  expect(version).toBe(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')).version);
  const files = await readdir(join(project, INSTALLED), { recursive: true });
  expect(files.filter(name => /\.map$|sqlite|console|sandbox/.test(name))).toEqual([]);
  for (const file of files.filter(name => name.endsWith('.js')))
    expect(await readFile(join(project, INSTALLED, file), 'utf8'), file).not.toContain('sourceMappingURL');
});

test('the types that a caller sees contain no digests, groups of rows or arrival times', async () => {
  const types = await Promise.all(
    ['client-types', 'read-types'].map(name =>
      readFile(join(project, INSTALLED, `registry/${name}.d.ts`), 'utf8'),
    ),
  );
  expect(types.join('\n')).not.toMatch(/digest|knownRows|arrivedAt|onOwner|unknownGroups/i);
});

test('P10 the program of docs/client-package.md compiles, retires a tonne and saves the certificate', async () => {
  const [program = ''] = programs;
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(33);
  await writeFile(join(project, 'retire.ts'), program);
  expect(await compile('retire.ts', '--module', 'nodenext')).toBe('');

  const sandbox = await startTemporarySandbox();
  const { app, organization } = installApp(sandbox);
  issueCredit(sandbox, organization.id, { amount: 5, type: 'exAnte' });
  issueCredit(sandbox, organization.id, { amount: 2.5 });
  const folder = join(project, 'run');
  await mkdir(folder);
  await writeFile(join(folder, 'key.pem'), app.privateKey, { mode: 0o600 });
  const { stdout } = await run(process.execPath, ['../retire.js'], {
    cwd: folder,
    env: {
      REGISTRY_BASE_URL: sandbox.url,
      REGISTRY_APP_ID: app.id,
      REGISTRY_PRIVATE_KEY_FILE: 'key.pem',
    },
  });
  expect(stdout).toMatch(/^retired 1 t of ICR-\S+\n$/);
  const [certificate = ''] = (await readdir(folder)).filter(name => name.endsWith('.pdf'));
  expect((await readFile(join(folder, certificate))).subarray(0, 5).toString()).toBe('%PDF-');
});

test.each(['nodenext', 'node16'])(
  'the modules type-check and load from ES modules and from CommonJS with module %s',
  async module => {
    const [, verifier = ''] = programs;
    const use = `${verifier}
      import { createClient, RegistryError, type Retirement } from 'carbon-mirror-client';
      const state: Retirement['comment'] = null;
      const names: string[] = [typeof createClient, typeof openDelivery, RegistryError.name, String(state)];
      console.log(names.join());`;
    const extensions = ['mts', 'cts'];
    for (const extension of extensions) await writeFile(join(project, `use.${extension}`), use);
    expect(await compile('use.mts', 'use.cts', '--module', module)).toBe('');
    for (const extension of extensions) {
      const program = `use.${extension.replace('t', 'j')}`;
      const { stdout, stderr } = await run(process.execPath, [program], { cwd: project });
      expect({ stdout, stderr }).toEqual({ stdout: 'function,function,RegistryError,null\n', stderr: '' });
    }
  },
);
