import { parseEnv } from 'node:util';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, afterAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/start.js';
import { ROWS, THINGS } from '../../src/cli/commands/sandbox/table.js';
import { runCommand } from '../support/command.js';
import {
  createOrganization,
  createPrivateKey,
  installApp,
  issueCredit,
  publicKeyOf,
  registerApp,
  sandboxFolder,
  startTestSandbox,
  temporarySandbox,
} from '../support/sandbox.js';

let sandbox: Sandbox;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ sandbox, stop } = await startTestSandbox());
});
afterAll(async () => {
  await stop();
});

async function run(...words: string[]) {
  return await runCommand(['sandbox', ...words], { env: { REGISTRY_BASE_URL: sandbox.url } });
}

/** The same command again with --json: the same exit code, and its answer. */
// biome-ignore lint: the answers of a sandbox are what the tests look into
// oxlint-disable-next-line typescript/no-explicit-any
async function json(...words: string[]): Promise<any> {
  const { exitCode, stdout, stderr } = await run(...words, '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function expectFault(exitCode: number, text: string, ...words: string[]): Promise<void> {
  for (const form of [words, [...words, '--json']]) {
    const outcome = await run(...form);
    expect(outcome, form.join(' ')).toMatchObject({ exitCode, stdout: '' });
    expect(outcome.stderr).toContain(text);
    expect(outcome.stderr).not.toMatch(/\n\s+at /);
  }
}

test('every command of the control API has help with an example of itself', async () => {
  expect(ROWS.length).toBeLessThanOrEqual(45);
  for (const { of, says } of ROWS) {
    for (const verb of Object.keys(says)) {
      const path = of === 'sandbox' ? [verb] : [of, verb];
      const { exitCode, stdout } = await run(...path, '--help');
      expect(exitCode).toBe(0);
      expect(stdout).toContain(`$ carbon-mirror sandbox ${path.join(' ')}`);
    }
  }
  const { exitCode, stdout } = await run('--help');
  expect(exitCode).toBe(0);
  for (const name of Object.keys(THINGS)) expect(stdout).toContain(`\n  ${name} `);
});

describe('apps', () => {
  test('an app is registered with a key made for it, and shown by its name', async () => {
    const folder = sandboxFolder();
    const webhook = ['--webhook-url', 'http://127.0.0.1:9/hook', '--webhook-secret', 'a secret of the shop'];
    const permission = ['--permission', 'organization_warehouse:write'];
    const { exitCode, stdout, stderr } = await run(
      'apps',
      'register',
      '--name',
      'Shop',
      ...webhook,
      ...permission,
    );
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/has_webhook_secret +true/);
    expect(stdout).toMatch(/permissions.organization_warehouse +WRITE/);
    expect(stdout).not.toContain('a secret of the shop');
    expect(existsSync(/private_key_file +(.+)/.exec(stdout)?.[1] ?? folder)).toBe(true);
    expect(stderr).toContain('REGISTRY_PRIVATE_KEY_FILE');
    expect(await json('apps', 'show', 'shop')).toMatchObject({ name: 'Shop', keys: [{}] });
    expect(await json('apps', 'list')).toContainEqual(expect.objectContaining({ name: 'Shop' }));
  });

  test('with --env all that a program of the app must be told is printed, as a file that takes its calls', async () => {
    const { exitCode, stdout, stderr } = await run(
      'apps',
      'register',
      '--name',
      'Ready App',
      '--permission',
      'organization_info:read',
      '--env',
    );
    expect(exitCode, stderr).toBe(0);
    const env = parseEnv(stdout);
    expect(Object.keys(env).toSorted()).toEqual([
      'REGISTRY_APP_ID',
      'REGISTRY_BASE_URL',
      'REGISTRY_HEADER_PREFIX',
      'REGISTRY_PRIVATE_KEY_FILE',
      'WEBHOOK_SECRETS',
    ]);
    expect(env['WEBHOOK_SECRETS']).toMatch(/^[0-9a-f]{64}$/);
    expect(await json('apps', 'show', 'ready-app')).toMatchObject({
      id: env['REGISTRY_APP_ID'],
      webhook_url: 'http://127.0.0.1:8080/webhooks',
      callback_urls: ['http://127.0.0.1:8080/installed'],
      has_webhook_secret: true,
    });
    const asked = await runCommand(['api', 'GET', '/app/installations?limit=1&page=0', '--as', 'jwt'], {
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? ''])),
    });
    expect(asked.exitCode, asked.stderr).toBe(0);
  });

  test('the settings that are printed have the prefix of the sandbox, whatever the shell says', async () => {
    const icr = await temporarySandbox({ headerPrefix: 'icr', profile: 'as-documented' });
    const argv = ['sandbox', 'apps', 'register', '--name', 'Asked', '--env', '--url', icr.url];
    const { stdout, stderr } = await runCommand(argv, { env: { REGISTRY_HEADER_PREFIX: 'registry' } });
    expect(parseEnv(stdout)['REGISTRY_HEADER_PREFIX']).toBe('icr');
    expect(stderr).toContain('The sandbox answers with the profile as-documented.');
    const status = await runCommand(['sandbox', 'status', '--json', '--url', icr.url], { env: {} });
    expect(JSON.parse(status.stdout)).toMatchObject({ header_prefix: 'icr', profile: 'as-documented' });
    expect(await json('status')).toMatchObject({ header_prefix: 'registry', profile: null });
  });

  test('keys come and go', async () => {
    const app = registerApp(sandbox);
    const file = join(sandboxFolder(), 'key.pem');
    writeFileSync(file, publicKeyOf(createPrivateKey()));
    const { keys } = await json('apps', 'add-key', app.name, '--public-key', file);
    expect(keys).toHaveLength(2);
    const { fingerprint } = keys[0];
    expect(await json('apps', 'remove-key', app.id, '--fingerprint', fingerprint)).toMatchObject({
      keys: [{}],
    });
    await expectFault(
      2,
      'cannot be read (ENOENT)',
      'apps',
      'add-key',
      app.id,
      '--public-key',
      '/no/such/file',
    );
    await expectFault(6, 'Key not found', 'apps', 'remove-key', app.id, '--fingerprint', fingerprint);
  });

  test('likely mistakes are told', async () => {
    await expectFault(2, "required option '--name <name>'", 'apps', 'register');
    await expectFault(
      2,
      'The sandbox: permissions: ',
      'apps',
      'register',
      '--name',
      'x',
      '--permission',
      'root',
    );
    await expectFault(6, 'There is no app "nobody" in the sandbox', 'apps', 'show', 'nobody');
    await expectFault(2, "unknown command 'shw'", 'apps', 'shw');
  });
});

test('organizations are created, listed, and claimed once', async () => {
  const words = ['--type', 'marketParticipant', '--country', 'IS', '--email', 'ada@harbour.example'];
  const { exitCode, stdout } = await run('organizations', 'create', '--name', 'Harbour Ferries', ...words);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/organization.full_name +Harbour Ferries/);
  expect((await run('organizations', 'list')).stdout).toContain('Harbour Ferries');
  await expectFault(3, 'exists', 'organizations', 'create', '--name', 'Harbour Ferries', ...words);
  await expectFault(2, 'countryCode', 'organizations', 'create', '--name', 'B', ...words, '--country', 'is');
  await expectFault(3, 'already claimed', 'organizations', 'claim', 'harbour ferries');
  const app = registerApp(sandbox);
  sandbox.registry.organizations.createForApp(app.id, {
    user: { email: 'eve@quay.example' },
    organization: { fullName: 'Quay', type: 'other' },
  });
  expect(await json('organizations', 'claim', 'Quay')).toMatchObject({ full_name: 'Quay' });
});

test('projects issue credits, which are deposited, withdrawn and retired', async () => {
  const owner = createOrganization(sandbox);
  expect(await json('projects', 'create', '--name', 'Peat bog', '--public', 'no')).toMatchObject({
    is_public: false,
  });
  const { stdout } = await run(
    'projects',
    'change',
    'Peat bog',
    '--public',
    'yes',
    '--short-description',
    'Wet.',
  );
  expect(stdout).toMatch(/is_public +true/);
  expect((await run('projects', 'list')).stdout).toContain('Wet.');
  const issue = ['credits', 'issue', '--organization', owner.fullName, '--project', 'Peat bog'];
  const { credit_id: creditId } = await json(...issue, '--amount', '100.5');
  const move = ['--organization', owner.id, '--credit-id', creditId, '--amount'];
  expect(await json('credits', 'deposit', ...move, '50')).toMatchObject({ place: 'warehouse', amount: 50 });
  expect(await json('credits', 'withdraw', ...move, '0.5')).toMatchObject({
    place: 'inventory',
    amount: 0.5,
  });
  const { id } = await json('credits', 'retire-off-platform', ...move, '1');
  expect(
    await json('credits', 'claim-retirement', id, '--beneficiary', 'Ada', '--reason', 'Testing'),
  ).toMatchObject({ is_claimed: true, beneficiary: 'Ada' });
  await expectFault(3, 'holds less', 'credits', 'deposit', ...move, '1000');
  await expectFault(2, 'expected a number', 'credits', 'deposit', ...move, 'many');
  await expectFault(2, 'amount must be', 'credits', 'withdraw', ...move, '0');
  await expectFault(
    6,
    'Retirement not found',
    'credits',
    'claim-retirement',
    'x',
    '--beneficiary',
    'a',
    '--reason',
    'b',
  );
  await expectFault(2, 'expected yes or no', 'projects', 'change', 'Peat bog', '--public', 'maybe');
  await expectFault(6, 'There is no project', ...issue.slice(0, 4), '--project', 'none', '--amount', '1');
});

test('an installation lives its life by the name of its organization', async () => {
  const app = registerApp(sandbox);
  const { id, fullName } = createOrganization(sandbox);
  const made = await json('installations', 'install', '--app', app.name, '--organization', fullName);
  expect(made).toMatchObject({ app_id: app.id, organization: { id } });
  expect(await run('installations', 'suspend', fullName)).toMatchObject({ exitCode: 0 });
  const states = async () =>
    (await json('installations', 'list')).find((each: { id: string }) => each.id === made.id).state;
  expect(await states()).toBe('suspended');
  await expectFault(3, 'already suspended', 'installations', 'suspend', fullName);
  await run('installations', 'unsuspend', made.id);
  await run('apps', 'change', app.id, '--permission', 'organization_members:read');
  expect((await json('installations', 'accept-permissions', fullName)).permissions).toEqual({
    organization_info: 'VIEW',
    organization_members: 'VIEW',
  });
  const { stderr } = await run('installations', 'uninstall', fullName);
  expect(stderr).toContain('Uninstalled');
  expect(await states()).toBe('uninstalled');
  await expectFault(6, 'There is no installation', 'installations', 'uninstall', fullName);
});

test('an installation is of the app in the settings where none is named', async () => {
  const app = registerApp(sandbox);
  const { fullName } = createOrganization(sandbox);
  const env = { REGISTRY_BASE_URL: sandbox.url, REGISTRY_APP_ID: app.id };
  const { stdout } = await runCommand(
    ['sandbox', 'installations', 'install', '--organization', fullName, '--json'],
    {
      env,
    },
  );
  expect(JSON.parse(stdout)).toMatchObject({ app_id: app.id });
  await expectFault(
    2,
    "'--app <name>' not specified",
    'installations',
    'install',
    '--organization',
    fullName,
  );
});

test('requests are listed, accepted and declined', async () => {
  const { app, organization } = installApp(sandbox);
  const creditId = issueCredit(sandbox, organization.id, { place: 'inventory' });
  const ask = () =>
    sandbox.registry.requests.create(organization.id, app.id, {
      action: 'retire',
      body: { creditId, amount: 1, retirementData: { reason: 'Testing', beneficiaryName: 'Ada' } },
    });
  const [first, second] = [ask(), ask()];
  expect((await json('requests', 'list', '--limit', '2')).map(({ id }: { id: string }) => id)).toContain(
    first.id,
  );
  expect((await run('requests', 'accept', first.id)).stdout).toMatch(/state +Accepted/);
  expect(await json('requests', 'decline', second.id)).toMatchObject({ state: 'Rejected' });
  await expectFault(3, 'The sandbox: ', 'requests', 'decline', second.id);
  expect((await run('transactions', 'list', '--limit', '1')).stdout).toContain('retire');
});

test('calls are listed by app and installation', async () => {
  const { app, organization, token, installationId } = installApp(sandbox);
  await fetch(`${sandbox.url}/organizations/${organization.id}`, {
    headers: { authorization: `Bearer ${token}`, 'x-registry-api-version': '2023-06-16' },
  });
  expect(await json('calls', 'list', '--app', app.name)).toMatchObject([
    { installation_id: installationId, status: 200 },
  ]);
  expect(await json('calls', 'list', '--installation', organization.fullName)).toHaveLength(1);
  await expectFault(2, 'limit must be', 'calls', 'list', '--limit', '0');
});

test('the clock is moved, set, stopped and let run', async () => {
  const now = async () => Date.parse((await json('clock', 'show')).now);
  const before = await now();
  await run('clock', 'move', '10m');
  expect(await now()).toBeGreaterThanOrEqual(before + 600_000);
  await run('clock', 'back', '2h');
  expect(await now()).toBeLessThan(before);
  await run('clock', 'set', '2026-12-31T23:59:00Z');
  expect((await run('clock', 'freeze')).stdout).toMatch(/is_frozen +true/);
  expect(await now()).toBe(await now());
  expect((await run('status')).stdout).toContain('2026-12-31T23:59:0');
  expect(await json('clock', 'run')).toMatchObject({ is_frozen: false });
  await expectFault(2, 'expected a time such as', 'clock', 'move', 'ten');
  await expectFault(2, 'at must be an instant', 'clock', 'set', 'tomorrow');
});

test('webhooks are held, shown, released, sent again and lost', async () => {
  const app = registerApp(sandbox, {
    webhookUrl: 'http://127.0.0.1:9/',
    webhookSecret: 'a secret of the app',
  });
  expect(await json('webhooks', 'change', '--hold', 'yes', '--timeout', '2s')).toMatchObject({
    hold: true,
    timeout_ms: 2000,
  });
  for (let count = 0; count < 3; count += 1) installApp(sandbox, { app });
  const [third, second, first] = await json('deliveries', 'list', '--limit', '3');
  expect(first.state).toBe('held');
  expect((await run('deliveries', 'show', String(first.id))).stdout).toMatch(/signature +sha256=/);
  expect(await json('deliveries', 'drop', String(first.id))).toMatchObject({ state: 'dropped' });
  expect((await run('deliveries', 'release', String(third.id), String(second.id))).stderr).toBe('Done.\n');
  await sandbox.registry.deliveries.settled();
  expect((await run('deliveries', 'list')).stdout).toContain('fetch failed');
  expect(await json('deliveries', 'resend', String(first.id))).toMatchObject({ copy_of: first.id });
  await expectFault(3, 'is not held', 'deliveries', 'drop', String(first.id));
  await expectFault(6, 'Delivery not found', 'deliveries', 'show', '99999');
  await expectFault(2, 'duplicate must be', 'webhooks', 'change', '--duplicate', '-1');
  expect((await run('webhooks', 'change', '--hold', 'no')).stdout).toMatch(/hold +false/);
  expect((await run('webhooks', 'show')).exitCode).toBe(0);
});

test('faults are added, listed, removed and cleared', async () => {
  const words = ['--status', '503', '--retry-after', '2', '--path', '/projects', '--count', '1'];
  const { id } = await json('faults', 'add', 'status', ...words);
  expect((await fetch(`${sandbox.url}/projects`)).headers.get('retry-after')).toBe('2');
  expect((await run('faults', 'list')).stdout).toMatch(/status 503, retryAfter 2 +0 +1/);
  expect(await run('faults', 'remove', String(id))).toMatchObject({ exitCode: 0, stderr: 'Done.\n' });
  await expectFault(6, 'Fault not found', 'faults', 'remove', String(id));
  await expectFault(2, 'kind must be one of', 'faults', 'add', 'weird');
  await expectFault(2, 'expected JSON', 'faults', 'add', 'status', '--body', '{');
  await json('faults', 'add', 'wrongShape', '--body', '{"a":[1]}', '--path', '/none');
  await run('faults', 'clear');
  expect(await json('faults', 'list')).toEqual([]);
});

describe('where the sandbox is', () => {
  test('a sandbox that is not there is told, with what to do', async () => {
    const { exitCode, stderr } = await runCommand(['sandbox', 'status', '--url', 'http://127.0.0.1:1']);
    expect(exitCode).toBe(5);
    expect(stderr).toContain('carbon-mirror sandbox start');
  });

  test('T30 nothing that is meant for a sandbox is sent to another machine', async () => {
    const env = { REGISTRY_BASE_URL: 'https://registry.example' };
    const outcome = await runCommand(['sandbox', 'apps', 'list'], { env });
    expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
    expect(outcome.stderr).toContain('REGISTRY_BASE_URL is no address of this machine');
    for (const url of [
      'http://127.0.0.1.evil.example',
      'http://10.0.0.1:8090',
      'file:///etc/passwd',
      'here',
    ]) {
      expect(await runCommand(['sandbox', 'status', '--url', url])).toMatchObject({ exitCode: 2 });
    }
  });

  test('without a setting it is at SANDBOX_PORT', async () => {
    const env = { SANDBOX_PORT: String(sandbox.port), DATA_DIR: sandboxFolder() };
    expect(await runCommand(['sandbox', 'status'], { env })).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
