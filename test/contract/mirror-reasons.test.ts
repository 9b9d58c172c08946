import { describe, expect, test } from 'vitest';
import { ENGINES, type TestEngine, MINUTE, TRAFFIC } from '../support/mirror/open.js';
import { credit } from '../support/mirror/rows.js';
import { createRandom, pick } from '../support/random.js';
import { listSeeds } from '../support/seeds.js';

const SECOND = 1000;
const ROWS = Array.from({ length: 25 }, (_, index) => credit(`c-${index}`));
const FAULT = { code: 'timeout', message: 'no answer' };
const TASK = { organizationId: 'organization-1', part: 'data' } as const;

interface Standing {
  readonly state: string;
  readonly reason: string | null;
  readonly error: string | null;
  readonly failing_since: string | null;
}

type Trigger = 'schedule' | 'delivery';
type Scene = Awaited<ReturnType<typeof createScene>>;

/** Creates a warehouse and everything its freshness depends on, relative to the present, because the view uses the real clock. */
async function createScene(library: TestEngine['library']) {
  const { stage, tables, writeFreshnessFacts } = await library();
  const { mirror, db, clock } = stage;
  const now = Date.now();
  const instant = (before: number) => new Date(now - before).toISOString();
  await mirror.checkOrigin({ baseUrl: 'https://registry.example', appId: 'app-1' });
  let deliveries = 0;
  const begin = async (before: number, trigger: Trigger = 'schedule') => {
    clock.at = now - before;
    const read = { ...TASK, resource: 'warehouse', claim: 1, trigger } as const;
    return await mirror.beginRead({ ...read, startedAt: clock.at });
  };
  const finish = async (before: number, rows: typeof ROWS, total: number | null, trigger?: Trigger) => {
    const read = await begin(before, trigger);
    await read.writeBatch(rows, clock.at);
    await read.finish({ ...TRAFFIC, total });
  };
  return {
    mirror,
    instant,
    begin,
    complete: (before: number) => finish(before, ROWS, null),
    /** Says another total than it has rows. */
    break: (before: number, trigger?: Trigger) => finish(before, ROWS, 99, trigger),
    empty: (before: number) => finish(before, [], null),
    fail: async (before: number, trigger?: Trigger) =>
      await (await begin(before, trigger)).abandon(FAULT, TRAFFIC),
    deliver: async (before: number) =>
      await tables.change(
        `INSERT INTO inbox.deliveries (received_at, event, installation_id, signed_text_sha256, stored_text_id, contradicted_fields, verdict, secret_index)
         VALUES (?, 'warehouseTransaction', 'installation-1', ?, 1, NULL, 'accepted', 0)`,
        instant(before),
        `digest-${(deliveries += 1)}`,
      ),
    heartbeat: async (before: number) => {
      await tables.change('DELETE FROM inbox.processes');
      await tables.change(
        "INSERT INTO inbox.processes (role, host, pid, started_at, seen_at) VALUES ('work', 'here', 1, ?, ?)",
        instant(before),
        instant(before),
      );
      await writeFreshnessFacts(now - before);
    },
    end: async (state: 'suspended' | 'uninstalled') =>
      await mirror.writeInstallation({
        installationId: 'installation-1',
        state,
        claim: 1,
        startedAt: now,
        arrivedAt: now,
        trigger: 'delivery',
      }),
    standing: async () =>
      await db.row<Standing>(
        "SELECT state, reason, error, failing_since FROM freshness WHERE resource = 'warehouse'",
      ),
    available: async () => await db.value<number>('SELECT count(*) FROM available_credits'),
    known: async () => await db.value<number>('SELECT count(*) FROM last_known_credits'),
  };
}

/** Writes a part of a read that does not end. */
async function writeSlice(scene: Scene, before: number): Promise<void> {
  const read = await scene.begin(before);
  const many = Array.from({ length: 1_800 }, (_, index) => credit(`d-${index}`));
  await read.writeBatch(many, Date.parse(scene.instant(before)));
  await expect.poll(scene.known).toBeGreaterThan(ROWS.length);
}

const REASONS: readonly (readonly [
  state: string,
  reason: string | null,
  how: string,
  play: (scene: Scene) => Promise<unknown>,
])[] = [
  ['fresh', null, 'a complete read', s => s.complete(5 * MINUTE)],
  [
    'fresh',
    null,
    'a failed read of the schedule within the interval',
    async s => {
      await s.complete(5 * MINUTE);
      await s.fail(MINUTE);
    },
  ],
  [
    'fresh',
    null,
    'a delivery of a moment ago',
    async s => {
      await s.complete(5 * MINUTE);
      await s.deliver(20 * SECOND);
      await s.heartbeat(20 * SECOND);
    },
  ],
  [
    'fresh',
    null,
    'a read since a delivery of a minute ago, before the worker has looked again',
    async s => {
      await s.complete(5 * MINUTE);
      await s.deliver(90 * SECOND);
      await s.heartbeat(0);
      await s.complete(30 * SECOND);
    },
  ],
  ['never_read', 'waiting', 'nothing', async () => undefined],
  ['never_read', 'read_failed', 'a first read that failed', s => s.fail(MINUTE)],
  ['never_read', 'read_interrupted', 'a first read that does not add up', s => s.break(MINUTE)],
  [
    'no_access',
    'suspended',
    'a suspended installation',
    async s => {
      await s.complete(MINUTE);
      await s.end('suspended');
    },
  ],
  [
    'no_access',
    'uninstalled',
    'a removed installation',
    async s => {
      await s.complete(MINUTE);
      await s.end('uninstalled');
    },
  ],
  [
    'no_access',
    'no_permission',
    'a permission that is missing',
    async s => {
      await s.complete(MINUTE);
      await s.mirror.markAccess('no_permission', { ...TASK, claim: 1 }, ['warehouse'], Date.now());
    },
  ],
  [
    'not_offered',
    null,
    'a list that the registry does not have',
    async s => {
      await s.complete(MINUTE);
      await s.mirror.markAccess('not_offered', { ...TASK, claim: 1 }, ['warehouse'], Date.now());
    },
  ],
  [
    'stale',
    'unread_webhook',
    'a delivery of a minute ago',
    async s => {
      await s.complete(5 * MINUTE);
      await s.deliver(90 * SECOND);
      await s.heartbeat(0);
    },
  ],
  [
    'stale',
    'worker_gone',
    'a worker that was seen after the read, and not for a minute',
    async s => {
      await s.complete(5 * MINUTE);
      await s.heartbeat(90 * SECOND);
    },
  ],
  ['stale', 'overdue', 'a read of two intervals ago', s => s.complete(31 * MINUTE)],
  ['stale', 'clock_changed', 'a read of the future', s => s.complete(-5 * MINUTE)],
  [
    'stale',
    'clock_changed',
    'a heartbeat of the future',
    async s => {
      await s.complete(5 * MINUTE);
      await s.heartbeat(-5 * MINUTE);
    },
  ],
  [
    'stale',
    'read_failed',
    'a failed read for a webhook',
    async s => {
      await s.complete(5 * MINUTE);
      await s.fail(MINUTE, 'delivery');
    },
  ],
  [
    'stale',
    'read_failed',
    'a failed read of the schedule after one for a webhook',
    async s => {
      await s.complete(5 * MINUTE);
      await s.fail(2 * MINUTE, 'delivery');
      await s.fail(MINUTE);
    },
  ],
  [
    'stale',
    'read_failed',
    'a failed read of the schedule when the interval has passed',
    async s => {
      await s.complete(16 * MINUTE);
      await s.fail(MINUTE);
    },
  ],
  [
    'stale',
    'read_interrupted',
    'a read that does not add up',
    async s => {
      await s.complete(5 * MINUTE);
      await s.break(MINUTE);
    },
  ],
  [
    'stale',
    'removals_unconfirmed',
    'a list that is empty of a sudden',
    async s => {
      await s.complete(5 * MINUTE);
      await s.empty(MINUTE);
    },
  ],
  [
    'stale',
    'being_read',
    'a slice of a read, and a worker that lives',
    async s => {
      await s.complete(6 * MINUTE);
      await writeSlice(s, 5 * MINUTE);
      await s.heartbeat(0);
    },
  ],
  [
    'stale',
    'being_read',
    'a slice of a moment ago, by a process without heartbeats',
    async s => {
      await s.complete(6 * MINUTE);
      await writeSlice(s, 0);
    },
  ],
  [
    'stale',
    'read_interrupted',
    'a slice of a read, and nobody who lives',
    async s => {
      await s.complete(6 * MINUTE);
      await writeSlice(s, 5 * MINUTE);
    },
  ],
  [
    'stale',
    'read_interrupted',
    'a slice of a read whose job somebody else has taken over',
    async s => {
      await s.complete(6 * MINUTE);
      await writeSlice(s, 5 * MINUTE);
      await s.heartbeat(0);
      await s.mirror.raiseFence({ ...TASK, claim: 2 });
    },
  ],
];

/** The events of a history that its freshness depends on. */
interface RecordedEvents {
  completeBefore: number | null;
  outcome: 'complete' | 'failed' | 'partial' | 'removals_unconfirmed' | null;
  isDoubted: boolean;
  hasFailedForWebhook: boolean;
  failingBefore: number | null;
  deliveredBefore: readonly number[];
  heartbeatBefore: number | null;
}

function computeExpectedFreshness(past: RecordedEvents): Pick<Standing, 'state' | 'reason'> {
  const { completeBefore: age, outcome } = past;
  const stale = (reason: string) => ({ state: 'stale', reason });
  if (age === null) {
    const reasons = { failed: 'read_failed', partial: 'read_interrupted' } as const;
    const reason = outcome === 'failed' || outcome === 'partial' ? reasons[outcome] : 'waiting';
    return { state: 'never_read', reason };
  }
  if (past.isDoubted) return stale('removals_unconfirmed');
  if (outcome === 'partial') return stale('read_interrupted');
  if (outcome === 'failed' && (past.hasFailedForWebhook || age > 15 * MINUTE)) return stale('read_failed');
  const heartbeat = past.heartbeatBefore;
  const unread = past.deliveredBefore.filter(before => before <= age);
  if (heartbeat !== null && Math.max(0, ...unread) > MINUTE) return stale('unread_webhook');
  if (heartbeat !== null && heartbeat > MINUTE && heartbeat < age + 20 * SECOND) return stale('worker_gone');
  return age > 30 * MINUTE ? stale('overdue') : { state: 'fresh', reason: null };
}

/** Gaps that are far from every limit, because a query takes some time. */
const GAPS = [25 * SECOND, 2 * MINUTE, 8 * MINUTE];

/** Plays random events, the oldest first, and records what happened. */
async function play(scene: Scene, random: () => number): Promise<RecordedEvents> {
  const past: RecordedEvents = {
    completeBefore: null,
    outcome: null,
    isDoubted: false,
    hasFailedForWebhook: false,
    failingBefore: null,
    deliveredBefore: [],
    heartbeatBefore: null,
  };
  const fails = (before: number, outcome: RecordedEvents['outcome'], trigger: Trigger) => {
    past.outcome = outcome;
    past.hasFailedForWebhook ||= trigger === 'delivery';
    past.failingBefore ??= before;
  };
  const events: readonly ((before: number, trigger: Trigger) => Promise<void>)[] = [
    async before => {
      await scene.complete(before);
      const whole = { isDoubted: false, hasFailedForWebhook: false, failingBefore: null } as const;
      Object.assign(past, { ...whole, outcome: 'complete', completeBefore: before });
    },
    async (before, trigger) => {
      await scene.fail(before, trigger);
      fails(before, 'failed', trigger);
    },
    async (before, trigger) => {
      await scene.break(before, trigger);
      fails(before, 'partial', trigger);
    },
    async before => {
      if (past.completeBefore === null || past.isDoubted) return;
      await scene.empty(before);
      fails(before, 'removals_unconfirmed', 'schedule');
      past.isDoubted = true;
    },
    async before => {
      await scene.deliver(before);
      past.deliveredBefore = [...past.deliveredBefore, before];
    },
  ];
  const gaps = Array.from({ length: 1 + Math.floor(random() * 6) }, () => pick(random, GAPS) ?? MINUTE);
  let before = gaps.reduce((sum, gap) => sum + gap, 0);
  for (const gap of gaps) {
    const trigger = random() < 0.5 ? 'schedule' : 'delivery';
    await pick(random, random() < 0.4 ? events.slice(0, 1) : events)?.(before, trigger);
    before -= gap;
  }
  const [last = MINUTE] = gaps.slice(-1);
  past.heartbeatBefore = pick(random, [null, 0, last > MINUTE ? last - 20 * SECOND : 0]) ?? null;
  if (past.heartbeatBefore !== null) await scene.heartbeat(past.heartbeatBefore);
  return past;
}

describe.each(ENGINES)('$name', ({ library }) => {
  test.each(REASONS)('%s, %s: %s', async (state, reason, _how, happen) => {
    const scene = await createScene(library);
    await happen(scene);
    expect(await scene.standing()).toMatchObject({ state, reason });
    const [available, known] = [await scene.available(), await scene.known()];
    if (state === 'fresh') expect([available, known]).toEqual([ROWS.length, 0]);
    else expect(available).toBe(0);
  });

  test('freshness shows since when reads fail, in every state, until a complete read', async () => {
    const scene = await createScene(library);
    await scene.complete(5 * MINUTE);
    await scene.fail(4 * MINUTE);
    await scene.fail(3 * MINUTE);
    expect(await scene.standing()).toEqual({
      state: 'fresh',
      reason: null,
      error: FAULT.message,
      failing_since: scene.instant(4 * MINUTE),
    });
    await scene.complete(MINUTE);
    expect(await scene.standing()).toEqual({
      state: 'fresh',
      reason: null,
      error: null,
      failing_since: null,
    });
  });

  test.each(listSeeds(25, 200))(
    'P04 freshness and its reason agree with random histories (seed %i)',
    async seed => {
      const scene = await createScene(library);
      const past = await play(scene, createRandom(seed));
      const { error, failing_since: failingSince, ...judged } = (await scene.standing()) ?? {};
      expect(judged, JSON.stringify(past)).toEqual(computeExpectedFreshness(past));
      const since = past.failingBefore === null ? null : scene.instant(past.failingBefore);
      expect(failingSince, JSON.stringify(past)).toBe(since);
      expect(error === null).toBe(since === null);
      expect(((await scene.available()) ?? 0) > 0).toBe(computeExpectedFreshness(past).state === 'fresh');
    },
  );
});
