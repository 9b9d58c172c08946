import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkUpSettings } from '../src/app/config/read-settings.js';
import { SETTINGS } from '../src/app/config/settings-table.js';
import { runCommand } from './support/command.js';
import { temporaryFolder } from './support/inbox.js';

const ROOT = join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const NAMES = SETTINGS.map(({ name }) => name);

describe('Dockerfile', () => {
  const lines = read('Dockerfile')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'));
  const instructions = lines.map(line => {
    const [word = '', ...rest] = line.split(' ');
    return { word, rest };
  });
  const of = (name: string) => instructions.filter(({ word }) => word === name).map(({ rest }) => rest);

  test('has two stages, and compilers only in the first', () => {
    expect(of('FROM').map(([, , name]) => name)).toEqual(['build', undefined]);
    expect(lines.findIndex(line => line.includes('npm prune --omit=dev'))).toBeLessThan(
      lines.findLastIndex(line => line.startsWith('FROM')),
    );
  });

  test('copies everything that a build needs before it builds', { timeout: 300_000 }, () => {
    const folder = temporaryFolder();
    const before = lines.slice(
      0,
      lines.findIndex(line => line.includes('npm ci')),
    );
    const paths = before.flatMap(line => /^COPY (?!--)(.+) \S+$/.exec(line)?.[1]?.split(' ') ?? []);
    for (const path of paths) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const { status, stderr, stdout } = spawnSync(process.execPath, ['tools/build.js'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(status, stderr + stdout).toBe(0);
  });

  test('copies only existing files, all files of the package except build results, and nothing that .dockerignore excludes', () => {
    const copied = of('COPY').filter(([from = '']) => !from.startsWith('--from'));
    const sources = copied.flatMap(paths => paths.slice(0, -1));
    expect(sources.filter(path => !existsSync(join(ROOT, path)))).toEqual([]);
    for (const path of ['migrations', 'docs', 'package.json', '.env.example', 'LICENSE'])
      expect(sources).toContain(path);
    for (const path of ['.', '.env', 'data']) expect(sources).not.toContain(path);
    const left = read('.dockerignore').trimEnd().split('\n');
    expect(left).toEqual(
      expect.arrayContaining(['**/node_modules', 'dist', 'data', 'secrets', '.env', '.git']),
    );
    expect(sources.filter(path => left.includes(path))).toEqual([]);
  });

  test('runs as an unprivileged user, has a health check, and contains no secret', () => {
    expect(of('USER')).toEqual([['node']]);
    const [[, , ...asked] = []] = of('HEALTHCHECK');
    const [program, , script] = parse(asked.join(' '));
    expect(program).toBe('node');
    expect(spawnSync(process.execPath, ['--check', '-'], { input: script, encoding: 'utf8' }).stderr).toBe(
      '',
    );
    const given = of('ENV')
      .flat()
      .map(pair => pair.split('=')[0]);
    expect(given.filter(name => name !== 'NODE_ENV' && !NAMES.includes(name ?? ''))).toEqual([]);
    expect(given.filter(name => /SECRET|KEY|URL/.test(name ?? ''))).toEqual([]);
  });
});

test('the default command of the image starts no demo, not even in a terminal', async () => {
  const instructions = read('Dockerfile').split('\n');
  const [, variables = ''] = /^ENV (.+)$/m.exec(read('Dockerfile')) ?? [];
  const image = Object.fromEntries(variables.split(' ').map(each => each.split('=')));
  const words: string[] = parse((instructions.findLast(line => line.startsWith('CMD ')) ?? '').slice(4));
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'demo'));
  writeFileSync(join(folder, 'demo/demo.env'), 'NODE_OPTIONS=no setting of a demo: it would be refused\n');
  const env = { ...image, DATA_DIR: folder };
  const { exitCode, stderr } = await runCommand(words, { env, terminal: true });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('REGISTRY_BASE_URL: expected');
  for (const line of read('Procfile').trim().split('\n')) expect(line).toMatch(/ (receive|work)$/);
});

describe('compose.yaml', () => {
  const { services, secrets, volumes } = parse(read('compose.yaml'));

  test('passes each secret as a file, and only existing settings', () => {
    for (const { environment, secrets: taken } of [services.database, services.mirror]) {
      for (const name of taken) expect(Object.keys(secrets)).toContain(name);
      for (const [name, value] of Object.entries(environment).filter(([key]) => key.endsWith('_FILE')))
        expect(
          taken.map((each: string) => `/run/secrets/${each}`),
          name,
        ).toContain(value);
    }
    for (const { file } of Object.values<{ file: string }>(secrets)) expect(file).toMatch(/^secrets\//);
    for (const name of Object.keys(services.mirror.environment)) {
      expect(name).toMatch(/_FILE$/);
      expect(NAMES).toContain(name);
    }
    expect(read('.gitignore').split('\n')).toContain('secrets/');
    expect(services.mirror).not.toHaveProperty('command');
    expect(services.mirror.environment).not.toHaveProperty('NODE_ENV');
  });

  test('publishes PostgreSQL only on loopback, and stores data in volumes', () => {
    expect(services.database.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
    const kept = [services.database, services.mirror].map(service => service.volumes[0].split(':')[0]);
    expect(kept).toEqual(Object.keys(volumes));
    expect(services.mirror).toMatchObject({ build: '.', network_mode: 'host' });
  });
});

test('images are pinned to one release', () => {
  const { services } = parse(read('compose.yaml'));
  const images = Array.from(read('Dockerfile').matchAll(/^FROM (\S+)/gm), ([, image]) => image);
  expect(images).toHaveLength(2);
  for (const image of [services.database.image, ...images])
    expect(image).toMatch(
      /^(postgres:1[4-8]\.\d+|node:\d+\.\d+\.\d+-bookworm(-slim)?)(@sha256:[0-9a-f]{64})?$/,
    );
});

test('compose.yaml runs the program without superuser rights, and SQL queries under another role', () => {
  const { services } = parse(read('compose.yaml'));
  const { POSTGRES_USER: superuser = 'postgres' } = services.database.environment;
  expect(superuser).toBe('postgres');
  const header = read('compose.yaml').split('services:')[0];
  const roles = Array.from(header?.matchAll(/postgres:\/\/(\w+):/g) ?? [], ([, role]) => role);
  expect(roles).toEqual(['carbon_mirror', 'questions']);
  const [, script] =
    /^\.\/(.+):\/docker-entrypoint-initdb\.d\/\w+\.sql:ro$/.exec(services.database.volumes[1]) ?? [];
  for (const role of roles) expect(read(script ?? '')).toContain(`CREATE ROLE ${role} LOGIN PASSWORD`);
  for (const [, secret = ''] of read(script ?? '').matchAll(/cat \/run\/secrets\/(\w+)/g))
    expect(services.database.secrets).toContain(secret);
  expect(services.mirror.secrets).not.toContain('superuser_password');
});

test('the workflow runs every check on the oldest Node and the suite on each later one', () => {
  const { jobs } = parse(read('.github/workflows/checks.yml'));
  const runs = (job: { steps: readonly { run?: string }[] }) => job.steps.flatMap(({ run }) => run ?? []);
  expect(runs(jobs.oldest)).toEqual(['.ci/run']);
  expect(runs(jobs.later)).toEqual(['npm ci', 'npm test', 'npm run test:all']);
  const others = Array.from(read('.ci/run').matchAll(/\b(\d\d)\.\d+\.\d+\/\d+/g), ([, major]) =>
    Number(major),
  );
  expect([20, ...jobs.later.strategy.matrix.node]).toEqual(others);
  expect(JSON.parse(read('package.json')).engines.node).toBe('^20.19 || >=22.12');
  expect(read('.ci/run')).toMatch(/^postgres=14\./m);
  const { optionalDependencies } = JSON.parse(read('test/postgres/package.json'));
  for (const version of Object.values(optionalDependencies)) expect(version).toMatch(/^18\./);
  expect(read('README.md')).toContain(
    'Node 20 (20.19 or newer), 22 (22.12 or newer), 24 or 26; PostgreSQL 14 to 18',
  );
});

test('a tag publishes the package and the image only after every check has passed, each with its provenance', () => {
  const { on, jobs } = parse(read('.github/workflows/release.yml'));
  expect(on).toEqual({ push: { tags: ['v*'] } });
  expect(jobs.check.steps.at(-1)).toEqual({ run: '.ci/run' });
  expect([jobs.package.needs, jobs.image.needs]).toEqual(['check', 'check']);
  expect(jobs.package.steps.at(-1)).toEqual({ run: 'npm publish --provenance --access public' });
  const { with: image } = jobs.image.steps.find(({ id }: { id?: string }) => id === 'image');
  expect(image).toMatchObject({ platforms: 'linux/amd64,linux/arm64', provenance: 'mode=max', sbom: true });
});

describe('the systemd unit', () => {
  const PROCESSES = ['receive', 'work', 'console', 'up'];
  const unit = read('docs/carbon-mirror@.service').replace(
    /^ExecStart=\S+/m,
    `ExecStart=${process.execPath}`,
  );

  /** The last value of a directive, as an instance has it; empty where the last one resets it. */
  const valueOf = (text: string, name: string, instance = '') =>
    Array.from(text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm')), ([, value = '']) => value)
      .at(-1)
      ?.replaceAll('%i', instance);

  function writeUnits(folder: string): string[] {
    const files = PROCESSES.map(name => join(folder, `carbon-mirror@${name}.service`));
    for (const file of files) writeFileSync(file, unit);
    const dropIns = join(folder, 'carbon-mirror@up.service.d');
    mkdirSync(dropIns);
    writeFileSync(join(dropIns, 'files.conf'), read('docs/carbon-mirror-files.conf'));
    return files;
  }

  test('is accepted by systemd, if systemd is installed', () => {
    const files = writeUnits(temporaryFolder());
    const { error, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], {
      encoding: 'utf8',
    });
    if (error !== undefined) return;
    expect(stderr.split('\n').filter(line => line.includes('carbon-mirror@'))).toEqual([]);
  });

  test('runs each process as its own user with its own folder', () => {
    for (const name of ['User', 'StateDirectory'])
      expect(PROCESSES.map(process => valueOf(unit, name, process))).toEqual(
        PROCESSES.map(process => `carbon-mirror-${process}`),
      );
    expect(valueOf(unit, 'Environment', 'work')).toBe('DATA_DIR=/var/lib/carbon-mirror-work');
  });

  test('writes no core dumps and hides the processes of others', () => {
    expect(valueOf(unit, 'LimitCORE')).toBe('0');
    expect(valueOf(unit, 'ProtectProc')).toBe('invisible');
    expect(valueOf(unit, 'ProcSubset')).toBe('pid');
    expect(valueOf(unit, 'CapabilityBoundingSet')).toBe('');
    expect(unit).not.toContain('MemoryDenyWriteExecute');
  });

  test('runs all processes as the user that owns the databases if SQLite is used', () => {
    const files = read('docs/carbon-mirror-files.conf');
    expect(valueOf(files, 'User')).toBe('carbon-mirror');
    expect(files).toContain('StateDirectory=\nStateDirectory=carbon-mirror\n');
    expect(valueOf(files, 'Environment')).toBe('DATA_DIR=/var/lib/carbon-mirror');
    expect(files).toContain(
      'EnvironmentFile=\nEnvironmentFile=/etc/carbon-mirror/mirror.env\nLoadCredential=\n',
    );
  });

  test('fits the user, folders and settings that docs/deploy.md creates for SQLite', async () => {
    const files = read('docs/carbon-mirror-files.conf');
    const page = read('docs/deploy.md');
    const [, text = ''] = /^cat > mirror\.env <<'END'\n([^]*?)^END$/m.exec(page) ?? [];
    const settings = parseEnv(text);
    expect(Object.keys(settings).filter(name => !NAMES.includes(name))).toEqual([]);
    expect(`DATA_DIR=${settings['DATA_DIR']}`).toBe(valueOf(files, 'Environment'));
    expect(page).toContain(
      `useradd --system --user-group --shell /usr/sbin/nologin ${valueOf(files, 'User')}\n`,
    );
    expect(page).toContain(`--env-file ${valueOf(files, 'EnvironmentFile')} "$@"`);
    expect(page).toContain('systemctl enable --now carbon-mirror@up\n');
    const folder = temporaryFolder();
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    writeFileSync(join(folder, 'registry.key'), key.export({ type: 'pkcs8', format: 'pem' }));
    writeFileSync(join(folder, 'webhook.secret'), `${randomBytes(32).toString('hex')}\n`);
    const env = parseEnv(text.replaceAll('/etc/carbon-mirror', folder));
    await expect(checkUpSettings(env)).resolves.toBeUndefined();
  });
});
