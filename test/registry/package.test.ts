import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { APP_ID, payloadOf, SECRET, signedPost } from '../support/receiver.js';
import { findFreePort } from '../support/processes.js';
import { installApp, issueCredit, startTemporarySandbox } from '../support/sandbox.js';
import { until } from '../support/wait.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

/** The only packages that the client and the types of the mirror need. No other package is installed. */
const NEEDED = ['jose', 'kysely', '@types/node', 'undici-types'];

/** The programs in TypeScript of docs/examples. */
const EXAMPLES = ['warehouse', 'with-token', 'webhook', 'mirror'];
/** The compiler's errors of all programs. */
let messages: readonly string[] = [];
let folder = '';

const EXPORTS = `
  import { openDelivery, readPayload } from 'carbon-mirror/webhook';
  import { openMirror } from 'carbon-mirror/mirror';
  import { startSandbox } from 'carbon-mirror/sandbox';
  import manifest from 'carbon-mirror/package.json' with { type: 'json' };
  const kinds: string[] = [
    typeof openDelivery, typeof readPayload, typeof openMirror, typeof startSandbox, manifest.name,
  ];
  console.log(kinds.join());`;

const WRONG = `
  import { createClient } from 'carbon-mirror/client';
  const client = createClient({ baseUrl: '', appId: '', privateKey: '', now: Date.now, random: Math.random });
  await client.token.listInstallations();`;

/** Queries that must not compile, one a line, with a word of the error. */
const WRONG_QUERIES = [
  ["mirror.selectFrom('retirements').select('benefactor')", 'benefactor'],
  ["mirror.selectFrom('retirements_of_2020').selectAll()", 'retirements_of_2020'],
  ["mirror.selectFrom('retirements').select('id').where('id', '=', 7)", '7'],
  ["mirror.selectFrom('freshness').select('state').where('state', '=', 'old')", 'old'],
  ["mirror.selectFrom('warehouse_credits').select('amount_micro')", 'amount_micro'],
  ["mirror.selectFrom('warehouse_sums').select(({ fn }) => fn.sum('amount').as('tonnes'))", 'amount'],
  ["mirror.updateTable('retirements').set({ beneficiary: 'Nobody' })", 'never'],
] as const;
const WRONG_QUERIES_FILE = 'wrong-queries.ts';
const WRONG_QUERIES_TEXT = [
  "import { openMirror } from 'carbon-mirror/mirror'; const mirror = await openMirror({ dataDir: 'data' });",
  ...WRONG_QUERIES.map(([query]) => `await ${query}.execute();`),
].join('\n');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carbon-package-'));
  const installed = join(folder, 'node_modules', 'carbon-mirror');
  await mkdir(join(folder, 'node_modules', '@types'), { recursive: true });
  await mkdir(installed);
  for (const name of NEEDED)
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  const { stdout } = await run('npm', [
    'pack',
    '--json',
    '--foreground-scripts=false',
    '--pack-destination',
    folder,
    ROOT,
  ]);
  const [packed] = JSON.parse(stdout);
  await run('tar', ['-xzf', join(folder, packed.filename), '--strip-components=1', '-C', installed]);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'exports.ts'), EXPORTS);
  await writeFile(join(folder, 'wrong.ts'), WRONG);
  await writeFile(join(folder, WRONG_QUERIES_FILE), WRONG_QUERIES_TEXT);
  for (const name of EXAMPLES)
    await copyFile(join(ROOT, `docs/examples/${name}.ts`), join(folder, `${name}.ts`));
  messages = await compileFiles([
    ...EXAMPLES.map(name => `${name}.ts`),
    'exports.ts',
    'wrong.ts',
    WRONG_QUERIES_FILE,
  ]);
  return () => rm(folder, { recursive: true, force: true });
});

/** Compiles all programs at once, because loading the types of Node takes longest. */
async function compileFiles(files: readonly string[]): Promise<readonly string[]> {
  const strict = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  const compiled = run(join(ROOT, 'node_modules/.bin/tsc'), [...strict, ...files], { cwd: folder });
  const { stdout } = await compiled.catch((error: { stdout: string }) => error);
  // The explanation of an error follows it in indented lines.
  return stdout.split(/\n(?! )/).filter(line => line !== '');
}

test('P10 the programs of docs/examples type-check and run with the package installed in an empty folder', async () => {
  const sandbox = await startTemporarySandbox({ headerPrefix: 'icr', strict: true });
  const { app, organization, token } = installApp(sandbox);
  issueCredit(sandbox, organization.id, { amount: 12.5 });
  expect(messages.filter(isFault)).toEqual([]);
  await writeFile(join(folder, 'key.pem'), app.privateKey, { mode: 0o600 });
  const of = { PATH: process.env['PATH'], REGISTRY_BASE_URL: sandbox.url, REGISTRY_HEADER_PREFIX: 'icr' };
  const credits = await run(process.execPath, ['warehouse.js'], {
    cwd: folder,
    env: { ...of, REGISTRY_APP_ID: app.id, REGISTRY_PRIVATE_KEY_FILE: 'key.pem' },
  });
  expect(credits.stdout).toMatch(/^ICR-ISL-\S+ 12\.5\n$/);

  const { stdout } = await run(process.execPath, ['with-token.js'], {
    cwd: folder,
    env: { ...of, ORGANIZATION_TOKEN: token, ORGANIZATION_ID: organization.id },
  });
  expect(stdout).toMatch(new RegExp(`^${organization.fullName}\nproject \\S+\n$`));

  const port = await findFreePort();
  const env = { PORT: String(port), WEBHOOK_SECRETS: SECRET, REGISTRY_APP_ID: APP_ID };
  const child = spawn(process.execPath, ['webhook.js'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill());
  const url = `http://127.0.0.1:${port}`;
  await until(async () => await fetch(url).then(isThere, isNotThere), 'the receiver');
  let faults = '';
  child.stderr.on('data', chunk => (faults += chunk));
  connect(port, '127.0.0.1').end('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc');
  await until(async () => faults.includes('aborted'), 'the report of the aborted post');
  expect((await fetch(url, { method: 'POST', body: 'a'.repeat(1_000_001) })).status).toBe(400);
  const line = once(child.stdout, 'data');
  const { body, headers } = signedPost(payloadOf());
  const forged = { 'x-registry-signature-256': `sha256=${'0'.repeat(64)}` };
  expect((await fetch(url, { method: 'POST', body, headers: forged })).status).toBe(401);
  expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(202);
  expect(String((await line)[0])).toMatch(/^warehouseTransaction /);
});

const isFault = (line: string) => !line.startsWith('wrong');

const isThere = () => true;
const isNotThere = () => false;

test('every export of the package has code and types', async () => {
  expect(messages.filter(isFault)).toEqual([]);
  const manifest = JSON.parse(
    await readFile(join(folder, 'node_modules/carbon-mirror/package.json'), 'utf8'),
  );
  expect(manifest.peerDependencies).toEqual({ '@types/node': '>=20' });
  // npm would offer to run these for an installed package, which has no sources to build.
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
    expect(Object.keys(manifest.scripts)).not.toContain(name);
  const driver = Number(process.versions.node.split('.')[0]) >= 22 ? 'better-sqlite3' : 'better-sqlite3-12';
  for (const name of [driver, 'express']) {
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const { stdout } = await run(process.execPath, ['exports.js'], { cwd: folder });
  expect(stdout).toBe('function,function,function,function,carbon-mirror\n');
});

test('the command runs from the bundle of the package', async () => {
  const installed = join(folder, 'node_modules', 'carbon-mirror');
  await symlink(join(ROOT, 'node_modules/commander'), join(folder, 'node_modules/commander'));
  const { stdout } = await run(process.execPath, [join(installed, 'dist/main.js'), '--help'], {
    cwd: folder,
  });
  expect(stdout).toContain('Usage: carbon-mirror');
  const programs = (await readdir(join(installed, 'dist'))).filter(name => name.startsWith('program-'));
  expect(programs).toHaveLength(1);
});

test('the package contains no source map whose source it lacks', async () => {
  const files = await readdir(join(folder, 'node_modules', 'carbon-mirror'), { recursive: true });
  expect(files.filter(file => file.endsWith('.map'))).toEqual([]);
  expect(files).toContain('SECURITY.md');
});

test('a call with wrong arguments does not compile', () => {
  const faults = messages.filter(line => line.startsWith('wrong.ts('));
  expect(faults).toEqual([expect.stringContaining('listInstallations')]);
});

test.each(WRONG_QUERIES)('a query that does not fit the tables does not compile: %s', (query, word) => {
  const line = WRONG_QUERIES.findIndex(([each]) => each === query) + 2;
  const fault = messages.find(message => message.startsWith(`${WRONG_QUERIES_FILE}(${line},`));
  expect(fault).toContain(word);
});

test('the package lists every package that it runs, with version, hash and licence', async () => {
  const installed = join(folder, 'node_modules', 'carbon-mirror');
  const sbom: Sbom = JSON.parse(await readFile(join(installed, 'sbom.json'), 'utf8'));
  const lock: Lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
  const expected = Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`);
  const named = sbom.components.map(({ name, version }) => `${name}@${version}`);
  expect(sbom).toMatchObject({ bomFormat: 'CycloneDX' });
  expect(named.toSorted()).toEqual(Array.from(new Set(expected)).toSorted());
  for (const { name, licenses, hashes } of sbom.components) {
    expect(licenses, name).not.toEqual([]);
    expect(hashes, name).not.toEqual([]);
  }
});

interface Sbom {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly licenses: readonly unknown[];
    readonly hashes: readonly unknown[];
  }[];
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly dev?: boolean }>>;
}

const LOADED = `
  const isLoaded = () => process.moduleLoadList.some(name => name.endsWith('undici/undici'));
  const { createClient } = await import('carbon-mirror/client');
  const { generateKeyPairSync } = await import('node:crypto');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const before = isLoaded();
  createClient({ baseUrl: 'http://127.0.0.1:9', appId: 'a', privateKey, now: Date.now, random: Math.random });
  process.stdout.write(JSON.stringify({ before, after: isLoaded() }));
`;

test('creating a client loads fetch, so that the first request does not block the worker', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', LOADED], { cwd: folder });
  expect(JSON.parse(stdout)).toEqual({ before: false, after: true });
});
