import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findExposures } from '../../src/cli/exposures.js';
import { SETTINGS } from '../../src/app/config/settings-table.js';
import { openEngine } from '../../src/store/open-engine.js';
import { runCommand } from '../support/command.js';
import { getPageText, visitConsole } from '../support/console.js';
import { temporaryFolder } from '../support/inbox.js';
import { startDemoForFile, startDemoMirror } from '../support/mirror/demo.js';
import { holdWriteAheadLog } from '../support/held-locks.js';
import { copyMirror } from '../support/mirror-copy.js';

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly found: string;
  readonly todo: string | null;
  readonly values?: Record<string, number | null>;
}

const demo = await startDemoForFile();

async function findings(env: Record<string, string> = demo.env, now = Date.now) {
  const { exitCode, stdout, stderr } = await runCommand(['doctor', '--json'], { env, now });
  const all: Finding[] = JSON.parse(stdout);
  const findingsOf = (check: string) => all.filter(finding => finding.check === check);
  return { exitCode, stdout, stderr, all, of: findingsOf };
}

describe('doctor', () => {
  test('passes with exit code 0 when everything works, as text and as JSON', async () => {
    const { exitCode, all, of } = await findings();
    expect(all.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(exitCode).toBe(0);
    expect(of('receiver')[0]?.found).toContain('accepts webhooks');
    const outcome = await runCommand(['doctor'], { env: demo.env });
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stdout).toMatch(/^state +check +found/);
    expect(outcome.stderr).toContain('All checks passed');
    expect(outcome.stdout).not.toContain('among them');
  });

  test('names the registry of a mirror, and calls only the data of a demo made up', async () => {
    const { of } = await findings();
    expect(of('mirror')[0]?.found).toBe(`the mirror in ${demo.folder} of ${demo.env['REGISTRY_BASE_URL']}`);
    const empty = temporaryFolder();
    const missing = await findings({ ...demo.env, DATA_DIR: empty });
    expect(missing.of('mirror')[0]?.found).toBe(`no mirror in ${empty} yet`);
    const copy = copyMirror(demo.folder);
    writeFileSync(join(copy.folder, 'demo.env'), '');
    const { of: ofDemo } = await findings({ ...demo.env, DATA_DIR: copy.folder });
    expect(ofDemo('mirror')[0]?.found).toBe(`the demo in ${copy.folder}: made-up data`);
  });

  test('prints each finding once and in full with its advice below, even on a narrow terminal', async () => {
    const env = { ...demo.env, REGISTRY_BASE_URL: 'http://127.0.0.1:9', NO_COLOR: '1' };
    const { all } = await findings(env);
    const { stdout, stderr } = await runCommand(['doctor'], { env, terminal: true, columns: 70 });
    const flat = `${stdout}${stderr}`.replaceAll(/\s+/g, ' ');
    expect(Math.max(...stdout.split('\n').map(line => line.length))).toBeLessThanOrEqual(100);
    const registryFinding = all.find(({ check }) => check === 'registry');
    expect(flat.split(registryFinding?.found ?? '?')).toHaveLength(2);
    expect(flat).toContain(`${registryFinding?.found} ${registryFinding?.todo}`);
    expect(stderr).toMatch(/\b(1 check|\d+ checks) failed, (1 warning|\d+ warnings)\./);
  });

  test('T70 warns of files and ports that other users can access', async () => {
    expect((await findings()).of('exposure')).toEqual([]);
    const file = join(demo.folder, 'secrets');
    writeFileSync(file, 'nobody knows this secret');
    chmodSync(file, 0o640);
    chmodSync(demo.folder, 0o707);
    const { of } = await findings({
      ...demo.env,
      WEBHOOK_SECRETS_FILE: file,
      OPERATIONS_HOST: '::',
      OPERATIONS_PORT: '8081',
    });
    chmodSync(demo.folder, 0o700);
    expect(of('exposure')).toMatchObject([
      { state: 'warn', found: 'DATA_DIR is accessible to other users (mode 707)' },
      {
        state: 'warn',
        found: 'the file of WEBHOOK_SECRETS_FILE is accessible to other users (mode 640)',
        todo: `chmod 600 ${file}`,
      },
      { state: 'warn', found: expect.stringContaining('OPERATIONS_HOST is ::') },
    ]);
  });

  test('T70 warns of database files that other users can read', async () => {
    expect((await findings()).of('databases').map(({ state }) => state)).not.toContain('warn');
    const file = join(demo.folder, 'mirror.db');
    chmodSync(file, 0o604);
    const { of } = await findings();
    chmodSync(file, 0o600);
    expect(of('databases')).toContainEqual(
      expect.objectContaining({
        state: 'warn',
        found: `${file} can be read by others (mode 604)`,
        todo: `chmod 600 ${file}`,
      }),
    );
  });

  test('T70 warns of every secret file that other users can read', () => {
    const file = join(demo.folder, 'open');
    writeFileSync(file, 'nobody knows this secret', { mode: 0o644 });
    const names = SETTINGS.flatMap(({ name, secret }) => (secret ? [`${name}_FILE`] : []));
    expect(names).toContain('MIRROR_DATABASE_URL_FILE');
    for (const name of names) {
      const env = { DATA_DIR: demo.folder, [name]: file };
      expect(findExposures({ env, secretFiles: [] })).toMatchObject([
        { found: `the file of ${name} is accessible to other users (mode 644)`, todo: `chmod 600 ${file}` },
      ]);
    }
  });

  test('warns of lists that were never read and of findings that were not counted recently', async () => {
    const mirror = copyMirror(demo.folder);
    const env = { ...demo.env, DATA_DIR: mirror.folder };
    const counted = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
    await mirror.change('DELETE FROM finding_counts');
    await mirror.change(
      "INSERT INTO finding_counts (finding, rows, counted_at) VALUES ('restatements', 0, ?)",
      counted(3),
    );
    const [well] = (await findings(env)).of('findings');
    expect(well).toMatchObject({ state: 'ok', found: expect.stringMatching(/was found, counted 3 h ago$/) });
    await mirror.change('UPDATE finding_counts SET counted_at = ?', counted(9));
    await mirror.change(
      'DELETE FROM resource_states WHERE organization_id = ?',
      demo.organizationIds[0] ?? '',
    );
    const { of } = await findings(env);
    expect(of('findings')).toMatchObject([
      { state: 'warn', found: expect.stringContaining('counted 9 h ago') },
    ]);
    const unread = expect.stringMatching(/^1 organization never read completely; all others are fresh$/);
    expect(of('freshness')).toMatchObject([{ state: 'warn', found: unread }]);
    const { of: atLimit } = await findings({ ...env, REGISTRY_REQUESTS_PER_SECOND: '0.1' });
    const [firstReads] = atLimit('first_reads');
    expect(firstReads).toMatchObject({
      state: 'warn',
      found: expect.stringMatching(
        /^catching up: 1 of \d organizations to go, (about \d minutes?) at 0.1 calls a second$/,
      ),
      values: { organizations_to_go: 1, workers: 1, calls_per_second: 0.1, seconds_left: expect.any(Number) },
    });
    expect(well).not.toHaveProperty('values');
  });

  test('T66 reports a write-ahead log that an open transaction keeps from shrinking', async () => {
    const letGo = holdWriteAheadLog(demo.folder);
    const { of } = await findings();
    letGo();
    expect(of('log')).toMatchObject([
      {
        state: 'warn',
        found: expect.stringMatching(
          /mirror.db-wal has \d\d MiB: a transaction that is still open keeps 2\d MiB of it from being removed/,
        ),
        todo: expect.stringContaining('fuser -v'),
      },
      {
        state: 'ok',
        found: expect.stringMatching(/inbox.db-wal has \d+ MiB, and nothing keeps it from shrinking/),
      },
    ]);
  });

  test('names every wrong setting with the expected value and exits with 3', async () => {
    const { exitCode, of } = await findings({
      DATA_DIR: demo.folder,
      REGISTRY_BASE_URL: 'http://example.org',
    });
    expect(exitCode).toBe(3);
    const told = of('settings')
      .map(({ todo }) => todo)
      .join('\n');
    for (const name of ['REGISTRY_BASE_URL', 'REGISTRY_APP_ID', 'REGISTRY_PRIVATE_KEY', 'WEBHOOK_SECRETS']) {
      expect(told).toContain(name);
    }
  });

  test('warns if more than one webhook secret is accepted', async () => {
    expect((await findings()).of('secret')).toMatchObject([{ state: 'ok' }]);
    const secrets = `${demo.env['WEBHOOK_SECRETS']},another secret of the demo mirror`;
    const { of } = await findings({ ...demo.env, WEBHOOK_SECRETS: secrets });
    expect(of('secret')).toMatchObject([{ state: 'warn', found: '2 webhook secrets are accepted' }]);
  });

  test('distinguishes an unreachable registry from one that does not know the app', async () => {
    const gone = await findings({ ...demo.env, REGISTRY_BASE_URL: 'http://127.0.0.1:9' });
    expect(gone.exitCode).toBe(3);
    expect(gone.of('registry')).toMatchObject([{ state: 'fail', todo: expect.stringContaining('reach it') }]);
    const stranger = await findings({ ...demo.env, REGISTRY_APP_ID: 'another' });
    expect(stranger.of('registry')[0]?.todo).toContain('belong to the same app');
  });

  test('T42 warns of a clock that is an hour off', async () => {
    const { of, exitCode } = await findings(demo.env, () => Date.now() + 3_600_000);
    expect(of('clock')).toMatchObject([{ state: 'warn', found: expect.stringContaining('ahead of') }]);
    expect(exitCode).toBe(3);
    expect(of('worker')).toMatchObject([{ state: 'fail' }]);
  });

  test("names a missing permission by the registry's name", async () => {
    const { installations } = demo.sandbox.registry;
    const [owner] = demo.organizationIds;
    const first = installations.listAll().find(({ organization }) => organization.id === owner);
    const { organization_members: _, ...rest } = first?.permissions ?? {};
    demo.sandbox.registry.apps.change(demo.appId, { permissions: rest });
    installations.acceptPermissions(first?.id ?? '');
    const { of } = await findings();
    expect(of('permissions')).toMatchObject([
      { state: 'warn', todo: expect.stringContaining('organization_members:read') },
    ]);
  });

  test("shows the registry's last answer for each resource and warns of resources that it does not offer", async () => {
    const { of } = await findings();
    const told = of('answers').map(({ found }) => found);
    expect(told).toContainEqual(
      expect.stringMatching(/^retirements: 200, a list in pages, \d+ \w+ ago, for /),
    );
    expect(told).toContainEqual(expect.stringMatching(/^warehouse: 200, a list, /));
    await demo.change(
      `UPDATE resource_states SET answer_status = 404, answer_form = 'none', not_offered_at = last_answer_at
       WHERE resource = 'addresses'`,
    );
    const after = await findings();
    expect(after.of('answers').filter(({ state }) => state !== 'ok')).toMatchObject([
      { state: 'warn', found: expect.stringMatching(/^addresses: 404, no rows, /) },
    ]);
    await demo.change('UPDATE resource_states SET not_offered_at = NULL');
  });

  test('fails if no receiver answers, also for a HOST such as __proto__', async () => {
    const odd = await findings({ ...demo.env, HOST: '__proto__' });
    expect(odd.of('receiver')).toMatchObject([
      { state: 'fail', found: expect.stringContaining('//__proto__:') },
    ]);
    const { of, exitCode } = await findings({ ...demo.env, PORT: '9' });
    expect(exitCode).toBe(3);
    expect(of('receiver')).toMatchObject([
      { state: 'fail', found: expect.stringContaining('nothing answers') },
    ]);
  });

  test('fails if the receiver of another mirror or another program answers on the port', async () => {
    const other = await startDemoMirror();
    onTestFinished(() => other.stop());
    const { of, exitCode } = await findings({ ...demo.env, PORT: other.env['PORT'] ?? '' });
    expect(exitCode).toBe(3);
    expect(of('receiver')).toMatchObject([
      { state: 'fail', found: expect.stringContaining('the receiver of another mirror answers at') },
    ]);
    expect((await findings(other.env)).of('receiver')).toMatchObject([{ state: 'ok' }]);
    const registry = await findings({ ...demo.env, PORT: new URL(demo.sandbox.url).port });
    expect(registry.of('receiver')).toMatchObject([
      { state: 'fail', found: expect.stringContaining('another program answers') },
    ]);
  });

  test('reports a wrong key and a wrong secret like status and the overview page', async () => {
    const other = await startDemoMirror();
    onTestFinished(() => other.stop());
    const { apps, installations } = other.sandbox.registry;
    for (const { fingerprint } of apps.get(other.appId).keys) apps.removeKey(other.appId, fingerprint);
    apps.change(other.appId, { webhookSecret: 'a secret that nobody here knows' });
    await other.change("UPDATE inbox.deliveries SET received_at = '2020-01-01T00:00:00.000Z'");
    const [installation] = installations.listAll();
    installations.suspend(installation?.id ?? '');
    const env = { DATA_DIR: other.folder };
    await runCommand(['sync'], { env: other.env });
    await expect.poll(() => other.value('SELECT count(*) FROM inbox.rejected_webhooks')).toBe(1);
    const PAUSED = "SELECT count(*) FROM inbox.jobs WHERE state = 'paused'";
    await expect.poll(() => other.value(PAUSED)).toBeGreaterThan(0);

    const { of } = await findings(other.env);
    const { stdout } = await runCommand(['status'], { env });
    const engine = openEngine({ dataDir: other.folder, diskReserveMb: null, database: null });
    const { open } = await visitConsole(engine.openReader, { now: Date.now });
    const page = await (await open('/')).text();
    const now = getPageText(page).replaceAll('&#39;', "'").replaceAll('&quot;', '"');
    for (const check of ['registry', 'rejected_webhooks']) {
      const [{ state, found, todo } = { state: '', found: '', todo: '' }] = of(check);
      expect(state).toBe('fail');
      const message = found.replace(/^.* answered/, 'answered');
      expect(stdout).toContain(`${message}. Who can act: you. ${todo}`);
      expect(now).toContain(`${message}. ${todo}`);
    }
    expect(now).not.toContain('Nothing needs attention');
  });

  test('fails if the settings name another registry or app than the one that filled the mirror', async () => {
    const other = demo.sandbox.url.replace('127.0.0.1', 'localhost');
    for (const named of [{ REGISTRY_BASE_URL: other }, { REGISTRY_APP_ID: 'another' }]) {
      const { of } = await findings({ ...demo.env, ...named });
      expect(of('origin')).toMatchObject([{ state: 'fail' }]);
    }
  });

  test('exits with 3 and says what to start if there is no mirror', async () => {
    const { exitCode, of } = await findings({ DATA_DIR: '/nowhere' });
    expect(exitCode).toBe(3);
    expect(of('databases')).toMatchObject([
      { state: 'fail', todo: expect.stringContaining('carbon-mirror up') },
    ]);
  });

  test('exits with 3 if the worker has sent no heartbeat for a minute', async () => {
    expect((await findings()).of('worker')).toMatchObject([{ state: 'ok' }]);
    const { exitCode, of } = await findings(demo.env, () => Date.now() + 5 * 60_000);
    expect(exitCode).toBe(3);
    expect(of('worker')).toMatchObject([
      {
        state: 'fail',
        found: expect.stringContaining('last heartbeat'),
        todo: expect.any(String),
      },
    ]);
  });

  test('exits with 3 if an announced change was not read', async () => {
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const [, id = ''] = demo.organizationIds;
    await demo.change(
      "UPDATE resource_states SET as_of = ? WHERE organization_id = ? AND resource = 'addresses'",
      minutesAgo(10),
      id,
    );
    await demo.change("INSERT INTO freshness_facts VALUES (?, 'addresses', ?)", id, minutesAgo(5));
    const { exitCode, of } = await findings();
    await demo.change("DELETE FROM freshness_facts WHERE organization_id = ? AND resource = 'addresses'", id);
    expect(exitCode).toBe(3);
    expect(of('freshness')).toMatchObject([
      {
        state: 'fail',
        found: expect.stringMatching(
          /^1 resource with unread deliveries, such as .*, addresses: stale \(unread webhook\)$/,
        ),
      },
    ]);
  });

  test('does not call a list fresh that the registry refuses despite a permission', async () => {
    const mark = async (at: string | null) =>
      await demo.change(
        "UPDATE resource_states SET no_permission_at = ?, refusals = 1, failing_since = ?, outcome = ? WHERE organization_id = ? AND resource = 'members'",
        at,
        at,
        at === null ? 'complete' : 'failed',
        demo.organizationIds[1] ?? '',
      );
    await mark(new Date().toISOString());
    const { of } = await findings();
    await mark(null);
    expect(of('freshness')).toMatchObject([
      { state: 'warn', found: expect.stringContaining('members: no access (no permission)') },
    ]);
  });
});
