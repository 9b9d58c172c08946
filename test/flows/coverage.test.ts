import { expect, test } from 'vitest';
import { readAvailable } from '../../src/query/available.js';
import { readStatus } from '../../src/query/status.js';
import { describeFailure } from '../../src/sync/outcome.js';
import { createJobHandler } from '../../src/sync/sync-service.js';
import { createDiscoverJob } from '../../src/sync/schedule/discover-installations.js';
import { recordUnreadDeliveries } from '../../src/sync/schedule/unread-deliveries.js';
import { createRandom, pick, type Random } from '../support/random.js';
import { openSyncContext, type Program, startProgram } from '../support/program.js';
import { createOrganization } from '../support/sandbox.js';
import { chooseLength } from '../support/long.js';
import { listSeeds } from '../support/seeds.js';

const FACTS_INTERVAL_MS = 15_000;
const LEASE_MS = 60_000;

interface InstallationFleet {
  readonly program: Program;
  readonly install: (count: number) => Promise<void>;
  /** Runs this many of the jobs that are due. */
  readonly runJobs: (count: number) => Promise<void>;
  /** Lets a worker read the registry's list of installations now. */
  readonly readInstallationList: () => Promise<void>;
  readonly writeFacts: () => Promise<void>;
  /** Returns the expected state of each organization known from the inbox or the list, without those found uninstalled. */
  readonly getExpectedStates: () => Promise<Map<string, string>>;
  readonly readCoverage: () => Promise<Map<string, string>>;
}

/** Starts a registry whose installations are announced to a receiver, with a worker that runs jobs on demand. */
async function startFleet(): Promise<InstallationFleet> {
  const program = await startProgram({ receiveOnly: true });
  const { registry, sandbox, app, inbox, time } = program;
  const context = await openSyncContext(program, {});
  await context.mirror.checkOrigin({ baseUrl: context.client.http.baseUrl, appId: context.appId });
  const perform = createJobHandler(context);
  const listed = new Set<string>();
  const signal = new AbortController().signal;
  const yieldTurn = () => Promise.resolve();

  async function runJobs(count: number): Promise<void> {
    const { jobs } = await inbox.claim({ parts: [{ part: 'data', slots: count }], leaseMs: LEASE_MS });
    for (const job of jobs) {
      try {
        const outcome = await perform({ job, signal, yieldTurn });
        await inbox.settle([{ claim: job, end: { act: 'done', outcome } }]);
      } catch (error) {
        const { code, message } = describeFailure(error);
        await inbox.settle([{ claim: job, end: { act: 'retry', delayMs: 1000, error: { code, message } } }]);
      }
    }
  }

  const organizationOf = (installationId: string) =>
    registry.installations.listAll().find(({ id }) => id === installationId)?.organization.id ??
    installationId;

  return {
    program,
    runJobs,
    install: async count => {
      for (let remaining = count; remaining > 0; remaining -= 1) {
        registry.installations.install(app.id, createOrganization(sandbox).id);
      }
      await registry.deliveries.waitUntilSettled();
    },
    readInstallationList: async () => {
      for (const { id, state } of registry.installations.listAll())
        if (state !== 'uninstalled') listed.add(id);
      const [id] = await inbox.enqueue([createDiscoverJob('schedule')]);
      while ((await program.value('SELECT state FROM jobs WHERE id = ?', id ?? 0)) !== 'done')
        await runJobs(1);
    },
    writeFacts: async () => {
      await registry.deliveries.waitUntilSettled();
      time.move(FACTS_INTERVAL_MS);
      await recordUnreadDeliveries(context, time.now());
    },
    getExpectedStates: async () => {
      const announced = await program.column<string>(
        "SELECT DISTINCT installation_id FROM deliveries WHERE verdict = 'accepted'",
      );
      const jobs = await program.rows<{
        readonly id: string;
        readonly state: string;
        readonly outcome: string;
      }>(
        `SELECT installation_id AS id, state, outcome FROM jobs
         WHERE part = 'data' AND (outcome IS NULL OR outcome <> 'merged') ORDER BY claim, id`,
      );
      const expectedStates = new Map<string, string>();
      for (const id of [...announced, ...listed]) {
        const ownJobs = jobs.filter(job => job.id === id);
        const lastOutcome = ownJobs.findLast(({ state }) => state === 'done')?.outcome;
        const state =
          lastOutcome === undefined ? 'never_read' : lastOutcome === 'suspended' ? lastOutcome : 'active';
        if (lastOutcome === 'uninstalled' && ownJobs.every(job => job.state === 'done')) continue;
        expectedStates.set(organizationOf(id), lastOutcome === 'uninstalled' ? 'never_read' : state);
      }
      return expectedStates;
    },
    readCoverage: async () => {
      const rows = await program.rows<{ readonly id: string; readonly state: string }>(
        "SELECT installation_id AS id, state FROM coverage WHERE state <> 'uninstalled'",
      );
      const counted = new Map(rows.map(({ id, state }) => [organizationOf(id), state]));
      expect(counted.size).toBe(rows.length);
      return counted;
    },
  };
}

/** Sorts states by organization id, for comparison. */
function sortStates(states: ReadonlyMap<string, string>): [string, string][] {
  return [...states].toSorted(([first], [second]) => (first < second ? -1 : 1));
}

async function playOperations(fleet: InstallationFleet, random: Random, size: number): Promise<void> {
  const { registry, app } = fleet.program;
  const { webhookUrl } = fleet.program;
  for (let remaining = size; remaining > 0; ) {
    const some = Math.min(remaining, 1 + Math.floor(random() * size));
    registry.apps.change(app.id, { webhookUrl: random() < 0.7 ? webhookUrl : null });
    await fleet.install(some);
    registry.apps.change(app.id, { webhookUrl });
    remaining -= some;
    if (random() < 0.5) await fleet.runJobs(Math.ceil(random() * Math.min(size, 20)));
    if (random() < 0.4) await fleet.readInstallationList();
    const victim = pick(
      random,
      registry.installations.listAll().filter(({ state }) => state === 'active'),
    );
    if (victim !== undefined && random() < 0.5) {
      if (random() < 0.5) registry.installations.suspend(victim.id);
      else registry.installations.uninstall(victim.id);
    }
    await fleet.writeFacts();
    expect(sortStates(await fleet.readCoverage())).toEqual(sortStates(await fleet.getExpectedStates()));
  }
}

const MAX_INSTALLATIONS = 1000;
const FEW_INSTALLATIONS = 30;

test.each(listSeeds(chooseLength(1, 4)))(
  'T97 fifteen seconds after the last webhook, coverage matches the inbox and the installation list (seed %i)',
  async seed => {
    const random = createRandom(seed);
    const fleet = await startFleet();
    const size = Math.ceil(
      random() ** 2 * (process.env['SEEDS'] === undefined ? FEW_INSTALLATIONS : MAX_INSTALLATIONS),
    );
    await playOperations(fleet, random, size);
    const { rows, value } = fleet.program;
    const known = await value<number>("SELECT count(*) FROM coverage WHERE state <> 'uninstalled'");
    const unread = await value<number>("SELECT count(*) FROM coverage WHERE state = 'never_read'");
    expect(await rows("SELECT state, count(*) AS n FROM freshness WHERE resource = '*' GROUP BY 1")).toEqual(
      unread === 0 ? [] : [{ state: 'never_read', n: unread }],
    );
    const reader = await fleet.program.engine.openReader();
    try {
      const available = await readAvailable(reader, { organizationId: null });
      expect(available.known).toBe(known);
      expect(available.excluded.filter(({ state }) => state === 'never_read').length).toBeGreaterThanOrEqual(
        unread ?? 0,
      );
      const { organizations } = await readStatus(reader, fleet.program.time.now());
      expect(organizations.filter(({ state }) => state !== 'uninstalled')).toHaveLength(known ?? 0);
    } finally {
      await reader.close();
    }
  },
);

test('T97 an announced installation has one unread freshness row, and one row per resource after the first sync', async () => {
  const fleet = await startFleet();
  const { program } = fleet;
  const freshness = () =>
    program.rows('SELECT resource, coalesce(reason, state) AS state FROM freshness ORDER BY resource');
  await fleet.install(1);
  expect(await freshness()).toEqual([]);
  await fleet.writeFacts();
  expect(await freshness()).toEqual([{ resource: '*', state: 'waiting' }]);
  await fleet.runJobs(1);
  expect(await freshness()).not.toContainEqual({ resource: '*', state: 'waiting' });
  expect(await program.value("SELECT count(*) FROM freshness WHERE state = 'fresh'")).toBeGreaterThan(7);
});

test('T97 a listed installation is counted at once, and no longer counted once it is found uninstalled', async () => {
  const fleet = await startFleet();
  const { registry, app, webhookUrl, rows } = fleet.program;
  const states = () => rows('SELECT state, count(organization_id) AS n FROM coverage GROUP BY 1');
  registry.apps.change(app.id, { webhookUrl: null });
  await fleet.install(3);
  await fleet.readInstallationList();
  expect(await states()).toEqual([{ state: 'never_read', n: 3 }]);
  for (const { id } of registry.installations.listAll()) registry.installations.uninstall(id);
  registry.apps.change(app.id, { webhookUrl });
  await fleet.runJobs(3);
  expect(await states()).toEqual([]);
});
