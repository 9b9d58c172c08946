import { sql } from 'kysely';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { evaluate } from '../../src/app/events/evaluate.js';
import { EVENT_ROWS, isEventResource } from '../../src/events/catalogue/row-columns.js';
import { createSender } from '../../src/events/send/sender.js';
import { EXIT } from '../../src/cli/exit.js';
import type { Reader } from '../../src/store/contract/reader.js';
import { runCommand } from '../support/command.js';
import { buildCopy, findDeliveryFaults } from '../support/event-copy.js';
import { openEvents } from '../support/events.js';
import { temporaryFolder } from '../support/folder.js';
import { MINUTE, openFilledMirror } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';

const HOUR = 60 * MINUTE;

async function openAll(organizations = 2) {
  const mirror = await openFilledMirror({ organizations });
  return { ...mirror, ...(await openEvents(mirror)) };
}

/** Reads the rows of the mirror in the columns that events have. */
async function readMirror({ all }: Reader): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (const [resource, { table, columns }] of Object.entries(EVENT_ROWS)) {
    if (!isEventResource(resource) || resource === 'installation') continue;
    const condition = resource === 'certificates' ? sql`state = 'stored'` : sql`1 = 1`;
    const names = sql.join(columns.map(name => sql.ref(name)));
    rows.push(
      ...(await all(sql<object>`SELECT ${names} FROM ${sql.table(`mirror.${table}`)} WHERE ${condition}`)),
    );
  }
  return rows.map(row => JSON.stringify(row)).toSorted();
}

describe('promises of events', () => {
  test('a subscriber rebuilds its copy from events alone', async () => {
    const { subscribe, send, receiver, read, clock, reader } = await openAll();
    await subscribe();
    for (let turn = 0; turn < 6; turn += 1) {
      clock.at += MINUTE / 10;
      const credits = Array.from({ length: (turn % 3) + 1 }, (_, index) =>
        credit(`c-${index}`, { amount: amount(String(turn * 10 + index + 1)) }),
      );
      await read('warehouse', credits);
      await read('inventory', credits.slice(1));
      await read('retirements', [
        retirement('r-1-0', { comment: `comment ${turn}` }),
        retirement(`r-x-${turn % 2}`),
      ]);
      if (turn % 2 === 0) await send();
    }
    await send();
    const copy = buildCopy(receiver.accepted);
    const rows = [...copy].filter(([key]) => !key.startsWith('["installation"')).map(([, row]) => row);
    expect(rows.map(row => JSON.stringify(row)).toSorted()).toEqual(await readMirror(reader));
    expect(rows.length).toBeGreaterThan(5);
    expect(findDeliveryFaults(receiver.accepted)).toEqual([]);
  });

  test('T102 an event that was delivered but not recorded is delivered again with the same id and body', async () => {
    const { subscribe, send, receiver, port, context, clock, errors } = await openAll();
    const { id } = await subscribe();
    const broken = { ...port, save: async () => Promise.reject(new Error('killed')) };
    const killed = createSender({ ...context, port: broken });
    await killed.poll();
    await killed.drain();
    expect(errors).toEqual([{ subscription: id, error: 'killed' }]);
    const first = receiver.accepted.map(event => `${event.id} ${event.body}`);
    expect(first).toHaveLength(10);
    clock.at += MINUTE;
    await send();
    expect(receiver.accepted).toHaveLength(20);
    expect(findDeliveryFaults(receiver.accepted)).toEqual([]);
    expect(new Set(receiver.accepted.map(event => `${event.id} ${event.body}`)).size).toBe(10);
  });

  test('T102 of two senders only one sends, and one whose lease was taken over records nothing', async () => {
    const { subscribe, send, receiver, port, find, clock, openPort, context } = await openAll();
    const { id } = await subscribe();
    const claim = await port.claim(id, MINUTE);
    if (claim === null) throw new Error('expected a claim');
    await send();
    expect(receiver.received).toEqual([]);
    // The other sender died: its lease ends. On PostgreSQL the clock of the server counts, so a command takes it away.
    clock.at += 2 * MINUTE;
    await port.replay(id, 0, 0);
    const other = createSender({ ...context, port: await openPort() });
    await Promise.all([send(), other.poll().then(other.drain)]);
    const { change_cursor: cursor } = await find(id);
    expect(cursor).toBeGreaterThan(0);
    const late = {
      ...claim,
      epoch: 'x',
      changeCursor: 0,
      occurrenceCursor: 0,
      holds: [],
      released: [],
      attempts: [],
    };
    expect(await port.save({ ...late, pauseReason: null })).toBe(false);
    expect(await port.renew(claim, MINUTE)).toBe(false);
    expect(await find(id)).toMatchObject({ change_cursor: cursor, state: 'active' });
    const next = await port.claim(id, MINUTE);
    expect(next).not.toBeNull();
    await port.pause(id, 'paused by the operator');
    expect(await port.save({ ...late, ...next, pauseReason: null })).toBe(false);
    expect(await find(id)).toMatchObject({ change_cursor: cursor, state: 'paused' });
    await port.resume(id, new Date(clock.at).toISOString());
    const refused = { ...late, ...(await port.claim(id, MINUTE)), pauseReason: 'refused by the subscriber' };
    expect([await port.save(refused), await port.save(refused)]).toEqual([true, false]);
    expect(receiver.accepted).toHaveLength(10);
  });

  test('T101 a subscriber that does not answer delays no other', async () => {
    const { subscribe, sender, receiver, find, reader, clock, env } = await openAll();
    const { receiver: silent } = await openEvents({ env, reader, clock });
    silent.answer = () => null;
    const hanging = await subscribe({ url: silent.url });
    await subscribe();
    await sender.poll();
    await expect.poll(() => receiver.accepted.length).toBe(10);
    await expect.poll(() => silent.received.length).toBeGreaterThan(0);
    await sender.stop();
    // A request that was ended by the stop of the sender is no failure of the subscriber.
    expect(await find(hanging.id)).toMatchObject({ delivered: 0, refused: 0, claimed_until: null });
  });

  test('T104 what was purged while it waited is not sent; an event that was tried is sent as erased', async () => {
    const { subscribe, send, receiver, port, clock, env } = await openAll();
    await subscribe();
    receiver.answer = ({ data }) => (data['organization_id'] === 'organization-2' ? 500 : 204);
    await send();
    const tried = receiver.received.filter(({ data }) => data['organization_id'] === 'organization-2');
    expect(tried).toHaveLength(1);
    const purged = await runCommand(
      ['purge', '--organization', 'organization-2', '--confirm', 'Organization 2', '--force'],
      { env, now: () => clock.at },
    );
    expect(purged).toMatchObject({ exitCode: EXIT.ok });
    const { length } = receiver.received;
    receiver.answer = () => 204;
    clock.at += HOUR;
    await send();
    const after = receiver.received.slice(length);
    expect(after.map(({ type, isErased }) => [type, isErased])).toEqual([
      [tried[0]?.type, true],
      ['organization.purged', false],
    ]);
    expect(after[0]?.id).toBe(tried[0]?.id);
    expect(JSON.parse(after[0]?.body ?? '')).toEqual({ type: tried[0]?.type, erased: true });
    expect(after.map(({ body }) => body).join(' ')).not.toMatch(/Peat bog|r-2|c-2|Harbour/);
    expect(await port.listHolds()).toEqual([]);
  });

  test('T103 a new epoch tells every subscriber first, and no id of an earlier epoch is used again', async () => {
    const { subscribe, send, receiver, port, clock, read, find } = await openAll();
    const { id } = await subscribe({ types: ['credit.changed'] });
    await send();
    // An event of the old epoch is refused. It must not be sent in the new one under a number that means another change.
    receiver.answer = () => 500;
    await read('warehouse', [credit('c-1-0', { amount: amount('6') })]);
    await send();
    expect(await port.listHolds()).toHaveLength(1);
    const { change_cursor: cursor } = await find(id);
    const at = new Date(clock.at).toISOString();
    await port.beginEpoch({ epoch: 'second', at, reason: 'restored', newestChange: cursor - 1 });
    receiver.answer = ({ type }) => (type === 'mirror.restored' ? 500 : 204);
    await read('warehouse', [credit('c-1-0', { amount: amount('7') })]);
    const before = receiver.received.length;
    await send();
    await send();
    expect(receiver.received.slice(before).map(({ type }) => type)).toEqual(['mirror.restored']);
    receiver.answer = () => 204;
    clock.at += MINUTE;
    await send();
    const [told, ...others] = receiver.accepted.filter(event => event.id.startsWith('second'));
    expect(told).toMatchObject({
      id: 'second_e0',
      data: { epoch: 'second', reason: 'restored', newest_change: cursor - 1 },
    });
    expect(others.length).toBeGreaterThan(0);
    expect(others.every(({ type, isErased }) => type === 'credit.changed' && !isErased)).toBe(true);
    expect(await find(id)).toMatchObject({ epoch: 'second' });
    expect(await port.listHolds()).toEqual([]);
  });

  test('freshness and failed jobs are numbered once, and sent with their organization', async () => {
    const { subscribe, send, receiver, port, clock, reader, tables } = await openAll();
    await subscribe({ types: ['freshness.stale', 'freshness.recovered', 'job.failed'] });
    const round = async () => {
      clock.at += MINUTE;
      const numbered = await evaluate({ port, reader, now: clock.at });
      await send();
      return numbered;
    };
    await round();
    receiver.accepted.length = 0;
    await tables.change(
      `UPDATE resource_states SET outcome = 'failed', error = 'answered 503', webhook_failed = 1, failing_since = as_of
       WHERE organization_id = 'organization-2' AND resource = 'retirements'`,
    );
    expect([await round(), await round()]).toEqual([1, 0]);
    expect(receiver.accepted.map(({ type, data }) => [type, data])).toEqual([
      [
        'freshness.stale',
        { organization_id: 'organization-2', resource: 'retirements', reason: 'read_failed' },
      ],
    ]);
    await tables.change(
      `UPDATE resource_states SET outcome = 'complete', error = NULL, webhook_failed = 0, failing_since = NULL
       WHERE organization_id = 'organization-2' AND resource = 'retirements'`,
    );
    const failedAt = new Date(clock.at).toISOString();
    await tables.change(
      `INSERT INTO inbox.jobs (kind, dedupe_key, trigger, run_at, created_at, state, finished_at, organization_id, error_or_pause_code)
       VALUES ('installation', 'k', 'person', '${failedAt}', '${failedAt}', 'failed', '${failedAt}', 'organization-1', 'server_error')`,
    );
    await round();
    await round();
    expect(receiver.accepted.slice(1).map(({ type, data }) => [type, data])).toEqual([
      ['freshness.recovered', { organization_id: 'organization-2', resource: 'retirements' }],
      ['job.failed', { organization_id: 'organization-1', job_id: expect.any(Number), code: 'server_error' }],
    ]);
    // Another worker that evaluates at the same time numbers nothing.
    const [first, second] = [
      await evaluate({ port, reader, now: clock.at + 1 }),
      await evaluate({ port, reader, now: clock.at + 2 }),
    ];
    expect([first, second]).toEqual([0, 0]);
  });

  test('old attempts are deleted, and old occurrences once every subscription has settled them', async () => {
    const { subscribe, send, port, clock } = await openAll();
    const { id } = await subscribe({ types: ['job.failed'] });
    const occurred_at = new Date(clock.at).toISOString();
    const job = { type: 'job.failed', organization_id: '', subject: '1', detail: 'x', occurred_at };
    expect(await port.record([job, job])).toBe(1);
    const later = new Date(clock.at + HOUR).toISOString();
    const list = () => port.listOccurrences({ after: 0, to: 100, limit: 10 });
    await port.prune(later);
    expect(await list()).toHaveLength(1);
    await send();
    expect(await port.listAttempts(id, 10)).toHaveLength(1);
    await port.prune(occurred_at);
    expect([(await list()).length, (await port.listAttempts(id, 10)).length]).toEqual([1, 1]);
    await port.prune(later);
    expect([(await list()).length, (await port.listAttempts(id, 10)).length]).toEqual([0, 0]);
    expect(await port.record([{ ...job, subject: '2' }])).toBe(1);
    expect((await list())[0]?.number).toBeGreaterThan(1);
  });

  test('T103 restoring an older backup begins a new epoch, also if the files are copied by hand', async () => {
    const { subscribe, send, receiver, env, clock, read, port, tables } = await openAll();
    if ('MIRROR_DATABASE_URL' in env) return;
    await subscribe();
    await send();
    const backup = join(temporaryFolder(), 'backup');
    const settings = { env: { ...env, REGISTRY_APP_ID: 'a' }, now: () => clock.at };
    expect(await runCommand(['backup', backup], settings)).toMatchObject({ exitCode: EXIT.ok });
    clock.at += 1_000;
    await read('warehouse', [credit('c-new', { amount: amount('7') })]);
    await send();
    const ids = receiver.accepted.map(({ id }) => id);
    // Another folder stands for the machine on which the backup is restored.
    const dataDir = join(temporaryFolder(), 'data');
    cpSync(backup, dataDir, { recursive: true });
    const restored = await runCommand(['restore', backup], {
      env: { ...env, DATA_DIR: dataDir, REGISTRY_APP_ID: 'a' },
      now: () => clock.at,
    });
    expect(restored.stderr).toContain('Subscribers are told by mirror.restored');
    rmSync(backup, { recursive: true });
    const { openEngine } = await import('../../src/store/open-engine.js');
    const engine = openEngine({ dataDir, database: null, diskReserveMb: 0 });
    const theirs = await engine.openReader();
    const there = await openEvents({ env: { DATA_DIR: dataDir }, reader: theirs, clock });
    receiver.accepted.length = 0;
    await there.send();
    expect(receiver.accepted.map(({ type }) => type)).toEqual(['mirror.restored']);
    expect(ids).not.toContain(receiver.accepted[0]?.id);
    await theirs.close();

    // The mirror alone is older than the cursor of one subscription: the sender notices by itself.
    await subscribe();
    await tables.change('UPDATE version_counter SET last = last - 1');
    receiver.accepted.length = 0;
    await send();
    await send();
    expect(receiver.accepted[0]).toMatchObject({
      type: 'mirror.restored',
      data: { reason: 'mirror_replaced' },
    });
    expect((await port.readEpoch())?.reason).toBe('mirror_replaced');
  });
});
