import type { SyncContext } from '../../src/sync/sync-context.js';
import { describeThisProcess } from '../../src/app/process-identity.js';
import { recordUnreadDeliveries } from '../../src/sync/schedule/unread-deliveries.js';
import { type InstalledProgram, startInstalled, openSyncContext, type ProgramOptions } from './program.js';

const FACTS_INTERVAL_SECONDS = 15;

interface SeenFreshness {
  readonly resource: string;
  /** The reason of the state, or the state itself if it has none. */
  readonly state: string;
  readonly as_of: string;
  readonly oldest_unread_at: string | null;
  readonly error: string | null;
}

export interface WatchedProgram extends InstalledProgram {
  /** Moves the time by seconds. A worker that watches records freshness facts every fifteen seconds. */
  pass(seconds: number): Promise<void>;
  watch(isWatching: boolean): Promise<void>;
  /** Starts or stops the processing of jobs. A worker that watches without processing is merely slow. */
  work(isWorking: boolean): Promise<void>;
  /** Processes all jobs, even if processing is stopped, as `sync` from cron does. */
  read(): Promise<void>;
  /** Starts a round of scheduled reads, and processes all jobs. */
  reconcile(): Promise<void>;
  /** Changes something at the registry, and waits for its delivery. */
  announce(): Promise<void>;
  freshness(): Promise<SeenFreshness[]>;
  /** Lists the resources with this state or reason. */
  resources(state: string): Promise<string[]>;
  /** Returns when facts were last recorded; null if never. */
  lastRecordedAt(): number | null;
}

/** Starts a program whose worker records freshness facts by the time of the test. `damage` can break one of its parts. */
export async function startWatched(
  options: ProgramOptions = {},
  damage: (context: SyncContext) => SyncContext = context => context,
): Promise<WatchedProgram> {
  const installed = await startInstalled(options);
  const { program } = installed;
  const context = await openSyncContext(program, options);
  await context.mirror.checkOrigin({ baseUrl: context.client.http.baseUrl, appId: context.appId });
  const parts = damage(context);
  const worker = program.worker();
  const self = describeThisProcess('work', program.time.now());
  let isWorking = true;
  let isWatching = false;
  let lastLook: number | null = null;
  let untilNext = FACTS_INTERVAL_SECONDS;

  async function recordFacts(): Promise<void> {
    untilNext = FACTS_INTERVAL_SECONDS;
    if (!isWatching) return;
    lastLook = program.time.now();
    const { at } = await parts.inbox.heartbeat(self);
    await recordUnreadDeliveries(parts, at);
  }

  async function work(wanted: boolean): Promise<void> {
    if (isWorking && !wanted) await worker.stop();
    if (!isWorking && wanted) await worker.start();
    isWorking = wanted;
  }

  async function read(rest: () => Promise<void>): Promise<void> {
    const wasWorking = isWorking;
    await work(true);
    await rest();
    await work(wasWorking);
  }

  async function freshness(): Promise<SeenFreshness[]> {
    return await program.rows<SeenFreshness>(
      'SELECT resource, coalesce(reason, state) AS state, as_of, oldest_unread_at, error FROM freshness ORDER BY resource',
    );
  }

  return {
    ...installed,
    work,
    pass: async seconds => {
      for (let left = seconds; left > 0; ) {
        const step = Math.min(left, untilNext);
        program.time.move(step * 1000);
        left -= step;
        untilNext -= step;
        if (untilNext === 0) await recordFacts();
      }
    },
    watch: async wanted => {
      isWatching = wanted;
      await recordFacts();
    },
    read: () => read(() => program.rest()),
    reconcile: () => read(() => program.reconcile(0)),
    announce: async () => {
      installed.retire(0.01);
      await program.registry.deliveries.waitUntilSettled();
    },
    freshness,
    resources: async state => (await freshness()).flatMap(row => (row.state === state ? [row.resource] : [])),
    lastRecordedAt: () => lastLook,
  };
}

/** Plays 90 seconds in which something changes every five seconds, and is read every 25 seconds or never. Returns the states seen. */
export async function playFlood(scene: WatchedProgram, isRead: boolean): Promise<Set<string>> {
  const states = new Set<string>();
  await scene.work(false);
  for (let second = 5; second <= 90; second += 5) {
    await scene.pass(5);
    await scene.announce();
    if (isRead && second % 25 === 0) await scene.read();
    for (const { state } of await scene.freshness()) states.add(state);
  }
  return states;
}
