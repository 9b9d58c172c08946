import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { type DemoMirror, startDemoMirror } from '../support/mirror/demo.js';
import { openTablesIn } from '../support/tables.js';
import { ALL_PERMISSIONS, installApp, registerApp, startTestSandbox } from '../support/sandbox.js';
import { makeFolder } from '../support/folder.js';

interface Row {
  readonly organization_id: string;
  readonly resource: string;
  readonly added: number;
  readonly unchanged: number;
  readonly state: string;
}

const WORLD = { organizations: 4, projects: 5, credits: 20, retirements: 30 };

describe('sync without a running worker', () => {
  const folder = makeFolder('carbon-mirror-sync-');
  let world: Awaited<ReturnType<typeof startTestSandbox>>;
  let env: Record<string, string>;

  beforeAll(async () => {
    world = await startTestSandbox({ seed: 7, world: WORLD });
    const app = registerApp(world.sandbox, { permissions: ALL_PERMISSIONS });
    const { organizations, installations } = world.sandbox.registry;
    for (const { id } of organizations.listAll()) installations.install(app.id, id);
    env = {
      REGISTRY_BASE_URL: world.sandbox.url,
      REGISTRY_APP_ID: app.id,
      REGISTRY_PRIVATE_KEY: app.privateKey,
      REGISTRY_REQUESTS_PER_SECOND: '1000',
      DATA_DIR: folder,
    };
  });

  afterAll(async () => {
    await world.stop();
    rmSync(folder, { recursive: true });
  });

  const sync = (...argv: string[]) => runCommand(['sync', ...argv], { env });

  test('fills an empty mirror with installations, lists and certificates', async () => {
    const { exitCode, stdout, stderr } = await sync('--json');
    expect(exitCode).toBe(0);
    const { by, resources, failures } = JSON.parse(stdout);
    expect({ by, failures }).toEqual({ by: 'this process', failures: [] });
    const added = (resource: string) =>
      resources
        .filter((row: Row) => row.resource === resource)
        .reduce((sum: number, row: Row) => sum + row.added, 0);
    expect(added('retirements')).toBe(WORLD.retirements);
    expect(await openTablesIn(folder).rows('SELECT 1 FROM retirements')).toHaveLength(WORLD.retirements);
    expect(await openTablesIn(folder).rows("SELECT 1 FROM certificates WHERE state = 'pending'")).toEqual([]);
    expect(added('certificates')).toBeGreaterThan(0);
    expect(stderr).toContain('No worker is running: reading in this process');
  });

  test('changes nothing when repeated and prints that as a table', async () => {
    const id = String(
      (await openTablesIn(folder).rows('SELECT id FROM organizations ORDER BY id LIMIT 1'))[0]?.['id'],
    );
    const { exitCode, stdout } = await sync('--organization', id, '--resource', 'retirements');
    expect(exitCode).toBe(0);
    const [head = '', row = ''] = stdout.split('\n');
    expect(head).toMatch(/organization +resource +added +changed +removed +unchanged +state/);
    expect(row).toMatch(/retirements +0 +0 +0 +\d+ +fresh/);
    expect(stdout).toContain('1 organization; 1 resource: 1 fresh;');
    const all = await sync('--organization', id);
    expect(all.stdout).toMatch(/ retirements +0 +0 +0 +\d+ +fresh/);
    // No certificate was downloaded, so a row of zeros would say nothing about the stored ones.
    expect(all.stdout).not.toContain('certificates');
  });

  test('of many organizations prints the lists that changed or failed and counts all of them', async () => {
    const quiet = await sync('--full');
    expect(quiet).toMatchObject({ exitCode: 0 });
    expect(quiet.stdout).toBe(
      '4 organizations; 40 resources: 40 fresh; rows: 0 added, 0 changed, 0 removed\n',
    );
    expect(quiet.stderr).not.toContain('complete');
    const [organization] = world.sandbox.registry.organizations.listAll();
    const { faults } = world.sandbox.registry;
    const fault = faults.add({
      path: `/organizations/${organization?.id}/addresses`,
      kind: 'status',
      options: { status: 403 },
    });
    const refused = await sync('--full');
    faults.remove(fault.id);
    expect(refused.exitCode).toBe(4);
    const [, row = '', total = '', ...more] = refused.stdout.split('\n');
    expect(row).toMatch(/addresses .* no access \(no permission\)/);
    expect(total).toMatch(/^4 organizations; 40 resources: .*39 fresh/);
    expect(more).toEqual(['']);
  });

  test('reads only certificates again with --resource certificates --full', async () => {
    const { exitCode, stdout } = await sync('--resource', 'certificates', '--full', '--json');
    expect(exitCode).toBe(0);
    const rows: Row[] = JSON.parse(stdout).resources;
    expect(new Set(rows.map(row => row.resource))).toEqual(new Set(['certificates']));
    const stored = (await openTablesIn(folder).rows("SELECT 1 FROM certificates WHERE state = 'stored'"))
      .length;
    expect(rows.reduce((sum, row) => sum + row.unchanged, 0)).toBe(stored);
  });

  test('refuses an unknown organization or resource', async () => {
    const unknown = await sync('--organization', 'nobody');
    expect(unknown).toMatchObject({ exitCode: 6, stdout: '' });
    expect(unknown.stderr).toContain('There is no organization');
    expect(await sync('--resource', 'retirement')).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('exits with 130 when interrupted, and the next sync completes the work', async () => {
    const interrupted = new AbortController();
    interrupted.abort();
    const { exitCode, stdout, stderr } = await runCommand(['sync'], {
      env,
      createInterruptSignal: () => interrupted.signal,
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
    expect(stderr).toContain('Interrupted');
    expect(await sync()).toMatchObject({ exitCode: 0 });
  });

  test('exits with 2 and names the missing key; its jobs wait', async () => {
    const { REGISTRY_PRIVATE_KEY: _, ...keyless } = env;
    const refused = await runCommand(['sync'], { env: keyless });
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toContain('REGISTRY_PRIVATE_KEY');
    expect(refused.stderr).not.toContain('    at ');
  });

  test('exits with 4 if the registry refuses the app and with 5 if its answer is unusable', async () => {
    const { faults, organizations } = world.sandbox.registry;
    const organizationOption = ['--organization', organizations.listAll()[0]?.id ?? ''];
    const refused = faults.add({ kind: 'status', options: { status: 401 } });
    const closed = await sync(...organizationOption, '--json');
    expect(closed.exitCode).toBe(4);
    const { failures, resources } = JSON.parse(closed.stdout);
    expect(failures.length).toBeGreaterThan(0);
    expect(new Set(resources.map((row: Row) => row.state))).toEqual(new Set(['not_read']));
    faults.remove(refused.id);
    faults.add({ kind: 'status', options: { status: 503 } });
    const outcome = await sync(...organizationOption);
    expect(outcome.exitCode).toBe(5);
    expect(outcome.stderr).toContain('next try at');
    faults.clear();
    expect(await sync(...organizationOption)).toMatchObject({ exitCode: 0 });
  });
});

describe('sync of an app with few permissions', () => {
  async function startWith(
    permissions: Readonly<Record<string, string>>,
    overrides: Record<string, string> = {},
  ) {
    const folder = makeFolder('carbon-mirror-sync-');
    const world = await startTestSandbox({});
    onTestFinished(async () => {
      await world.stop();
      rmSync(folder, { recursive: true });
    });
    const app = registerApp(world.sandbox, { permissions });
    const { installationId } = installApp(world.sandbox, { app });
    const env = {
      REGISTRY_BASE_URL: world.sandbox.url,
      REGISTRY_APP_ID: app.id,
      REGISTRY_PRIVATE_KEY: app.privateKey,
      DATA_DIR: folder,
    };
    const run = (...argv: string[]) => runCommand(argv, { env: { ...env, ...overrides } });
    return { registry: world.sandbox.registry, installationId, run, sync: () => run('sync') };
  }

  test('exits with 4 and names a list that is refused despite a permission', async () => {
    const { registry, sync } = await startWith(ALL_PERMISSIONS);
    registry.faults.add({ path: '/organizations/*/retirements', kind: 'status', options: { status: 403 } });
    const { exitCode, stdout, stderr } = await sync();
    expect(exitCode).toBe(4);
    expect(stdout).toMatch(/retirements .* no access \(no permission\)/);
    expect(stderr).toMatch(/retirements: refused although permitted: /);
  });

  test('accepts a list that the registry does not offer and names one whose last read failed', async () => {
    const { registry, sync } = await startWith(ALL_PERMISSIONS);
    const path = '/organizations/*/addresses';
    const absent = registry.faults.add({ path, kind: 'status', options: { status: 404 } });
    expect(await sync()).toMatchObject({ exitCode: 0 });
    registry.faults.remove(absent.id);
    registry.faults.add({ path, kind: 'status', options: { status: 503 } });
    const { exitCode, stdout, stderr } = await sync();
    expect(exitCode).toBe(3);
    expect(stdout).toContain('1 failed');
    expect(stderr).toMatch(/, addresses: .*503/);
  });

  test('explains that members are not mirrored', async () => {
    const { run } = await startWith(ALL_PERMISSIONS, { MIRROR_MEMBERS: 'off' });
    await run('sync');
    const { exitCode, stderr } = await run('sync', '--resource', 'members');
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: expect.stringContaining('MIRROR_MEMBERS') });
  });

  test('accepts a list for which the app never requested a permission', async () => {
    const { organization_members: _, ...fewer } = ALL_PERMISSIONS;
    const { run, sync } = await startWith(fewer);
    expect(await sync()).toMatchObject({ exitCode: 0 });
    const { stdout, stderr } = await run('available');
    expect(stdout).toBe('No credits are available now.\n');
    expect(stderr).not.toMatch(/stale|never read|left out/i);
  });

  test('exits with 3 if no list could be read', async () => {
    const { registry, installationId, sync } = await startWith(ALL_PERMISSIONS);
    registry.installations.suspend(installationId);
    const { exitCode, stdout, stderr } = await sync();
    expect(exitCode).toBe(3);
    expect(stdout).not.toContain('fresh');
    expect(stderr).toContain('No list could be read');
  });
});

describe('sync with a running worker', () => {
  let demo: DemoMirror;

  beforeAll(async () => {
    demo = await startDemoMirror();
  });

  afterAll(async () => {
    await demo.stop();
  });

  test('leaves the reads to the worker and needs no key', async () => {
    const { exitCode, stdout, stderr } = await runCommand(['sync', '--json'], {
      env: { DATA_DIR: demo.folder },
    });
    expect(exitCode).toBe(0);
    const { by, resources } = JSON.parse(stdout);
    expect(by).toBe('the running worker');
    expect(resources.filter((row: Row) => row.state !== 'fresh')).toEqual([]);
    expect(stderr).toContain('by the running worker');
  });

  test('exits with 4 for a named organization that is suspended', async () => {
    const { installations } = demo.sandbox.registry;
    const [first] = installations.listAll();
    installations.suspend(first?.id ?? '');
    const id = first?.organization.id ?? '';
    const { exitCode, stderr } = await runCommand(['sync', '--organization', id], {
      env: { DATA_DIR: demo.folder },
    });
    expect(exitCode).toBe(4);
    expect(stderr).toContain('suspended');
    installations.unsuspend(first?.id ?? '');
  });
});
