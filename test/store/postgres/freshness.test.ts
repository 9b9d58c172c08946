import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyDatabase, openAs, type Stage, stageOn } from '../../support/engines.js';
import { credit, installation, retirement } from '../../support/mirror.js';
import { tablesInFile } from '../../support/tables.js';

const SECOND = 1000;
const ago = (seconds: number): string => new Date(Date.now() - seconds * SECOND).toISOString();

interface Seen {
  readonly state: string;
  readonly oldest_unread_at: string | null;
  readonly worker_seen_at: string | null;
  readonly error: string | null;
}

/** A mirror that was read a while ago, its first and second organization, and whose worker was seen just now. */
async function open() {
  const scene = await openUnwatched();
  await scene.sign('work', ago(0));
  return scene;
}

async function openUnwatched() {
  const stage = await stageOn(openAs(await emptyDatabase()));
  const { db, mirror, clock } = stage;
  clock.at = Date.now() - 300 * SECOND;
  const look = {
    state: 'active',
    claim: 1,
    startedAt: clock.at,
    arrivedAt: clock.at,
    trigger: 'person',
  } as const;
  const second = installation('installation-2', { organizationId: 'organization-2' });
  await mirror.writeInstallation({ ...look, installation: second });
  for (const organizationId of ['organization-1', 'organization-2']) {
    await stage.read('warehouse', [credit('c-1', { organizationId })], { organizationId });
    await stage.read('retirements', [retirement('r-1', { organizationId })], { organizationId });
  }
  const deliver = (
    id: string | null,
    receivedAt: string,
    verdict = 'accepted',
    unreadDuplicateAt: string | null = null,
  ) =>
    db.change(
      `INSERT INTO inbox.deliveries (received_at, installation_id, digest, signed_text_id, verdict, reason, secret_index, unread_duplicate_at)
       VALUES (?, ?, 'd', 1, ?, ?, 0, ?)`,
      receivedAt,
      id,
      verdict,
      verdict === 'accepted' ? null : 'unreadable',
      unreadDuplicateAt,
    );
  const sign = (role: string, seenAt: string) =>
    db.change(
      "INSERT INTO inbox.processes (role, host, pid, started_at, seen_at) VALUES (?, 'h', 1, ?, ?)",
      role,
      seenAt,
      seenAt,
    );
  return { ...stage, deliver, sign };
}

const seen = ({ db }: Pick<Stage, 'db'>, resource = 'warehouse', organizationId = 'organization-1') =>
  db.row<Seen>(
    'SELECT coalesce(reason, state) AS state, oldest_unread_at, worker_seen_at, error FROM freshness WHERE resource = ? AND organization_id = ?',
    resource,
    organizationId,
  );

const FRESH = { state: 'fresh', oldest_unread_at: null, worker_seen_at: expect.any(String), error: null };

test('what was delivered is told of from its first second on, and makes its resources stale after sixty', async () => {
  const scene = await open();
  expect(await seen(scene)).toEqual(FRESH);
  const [young, old] = [ago(1), ago(90)];
  await scene.deliver('installation-1', young);
  expect(await seen(scene)).toEqual({ ...FRESH, oldest_unread_at: young });
  await scene.deliver('installation-1', old);
  expect(await seen(scene)).toEqual({ ...FRESH, state: 'unread_webhook', oldest_unread_at: old });
  expect(await seen(scene, 'warehouse', 'organization-2')).toEqual(FRESH);
  scene.clock.at = Date.now() - 80 * SECOND;
  await scene.read('warehouse', [credit('c-1')]);
  expect(await seen(scene)).toEqual({ ...FRESH, oldest_unread_at: young });
  expect(await seen(scene, 'retirements')).toMatchObject({ state: 'unread_webhook' });
});

test('a duplicate that came after a read had begun waits for the next one', async () => {
  const scene = await open();
  const repeated = ago(70);
  await scene.deliver('installation-1', ago(400), 'accepted', repeated);
  expect(await seen(scene)).toMatchObject({ state: 'unread_webhook', oldest_unread_at: repeated });
});

test('nothing is announced by what was read, ignored, or is for an installation that is not known or not active', async () => {
  const scene = await open();
  await scene.deliver('installation-1', ago(400));
  await scene.deliver('installation-1', ago(90), 'ignored');
  await scene.deliver('somebody', ago(90));
  await scene.deliver(null, ago(90));
  expect(await seen(scene)).toEqual(FRESH);
  await scene.deliver('installation-2', ago(90));
  const look = { claim: 2, startedAt: Date.now(), arrivedAt: Date.now(), trigger: 'delivery' } as const;
  await scene.mirror.writeInstallationState({
    ...look,
    installationId: 'installation-2',
    state: 'suspended',
  });
  expect(await seen(scene, 'warehouse', 'organization-2')).toEqual({ ...FRESH, state: 'suspended' });
});

test('certificates wait for what retirements wait for', async () => {
  const scene = await open();
  const at = ago(90);
  await scene.db.change(
    `UPDATE resource_states SET complete_at = ?, outcome = 'complete'
     WHERE organization_id = 'organization-1' AND resource = 'certificates'`,
    ago(10),
  );
  await scene.deliver('installation-1', at);
  expect(await seen(scene, 'certificates')).toMatchObject({ state: 'unread_webhook', oldest_unread_at: at });
});

test('once a worker has watched, resources are stale while none is seen; a receiver does not watch', async () => {
  const scene = await openUnwatched();
  await scene.sign('receive', ago(200));
  await scene.deliver('installation-1', ago(250));
  expect(await seen(scene)).toEqual({ ...FRESH, worker_seen_at: null });
  await scene.db.change('DELETE FROM inbox.deliveries');
  const gone = ago(100);
  await scene.sign('work', gone);
  expect(await seen(scene)).toEqual({ ...FRESH, state: 'worker_gone', worker_seen_at: gone });
  await scene.sign('work', ago(0));
  expect(await seen(scene)).toEqual(FRESH);
});

test('the oldest delivery of an installation is found by an index, however many came for others', async () => {
  const { db } = await open();
  await db.change(`INSERT INTO inbox.deliveries (received_at, installation_id, digest, signed_text_id, verdict, secret_index)
    SELECT now() - n * interval '1 second', 'installation-' || n % 500, 'd', 1, 'accepted', 0
    FROM generate_series(1, 20000) AS s (n)`);
  await db.change('ANALYZE inbox.deliveries');
  const plan = await db.column<string>('EXPLAIN SELECT * FROM mirror.freshness');
  expect(plan.join('\n')).toContain('deliveries_by_installation');
});

test('a snapshot says the same: what waits and who watched go with it', async () => {
  const scene = await open();
  await scene.mirror.checkOrigin('http://127.0.0.1:1', 'app-1');
  await scene.deliver('installation-1', ago(90));
  const shown = `SELECT organization_id, resource, state, reason, complete_at, rows, oldest_unread_at, worker_seen_at, error
    FROM freshness ORDER BY 1, 2`;
  const before = await scene.db.rows(shown);
  expect(before.filter(row => row['reason'] === 'unread_webhook')).toHaveLength(2);
  const file = join(scene.folder, 'copy.db');
  await scene.snapshot(file);
  expect(await tablesInFile(file).rows(shown)).toEqual(before);
});
