import { expect, test } from 'vitest';
import { createInstallationJob, type JobEnd, type NewJob, UNCHANGED_OUTCOME } from '../../src/inbox/job.js';
import type { ClaimedJob } from '../../src/inbox/job.js';
import {
  type ArrivedDelivery,
  createTestInbox,
  type TestInbox,
  type InboxStore,
  acceptedDelivery,
  NOON,
} from '../support/inbox.js';
import { BOTH_ENGINES } from '../support/mirror/open.js';
import { createRandom, pick } from '../support/random.js';
import { listSeeds } from '../support/seeds.js';

const STEPS = 120;
const INSTALLATIONS = 4;
const ERROR = { code: 'unavailable', message: 'answered 503' };
const WAITS_MS = [1, 40, 400, 1000, 2500, 16_000, 61_000, 3_700_000] as const;

type Step = (box: TestInbox, held: Map<number, ClaimedJob>, now: number) => Promise<unknown>;

interface HistoryStep {
  readonly now: number;
  readonly step: Step;
}

/** Queries all tables. Ids differ between engines that skip numbers, so each id is replaced by its position in its table. */
const TABLES: Readonly<Record<string, string>> = {
  deliveries: `SELECT row_number() OVER (ORDER BY id) AS id, received_at, event, installation_id, signed_text_sha256,
    (SELECT count(*) FROM signed_texts AS t WHERE t.id <= stored_text_id) AS text, contradicted_fields, verdict, ignored_reason,
    secret_index, (SELECT count(*) FROM jobs AS j WHERE j.id <= job_id) AS job, duplicates, last_duplicate_at, unread_duplicate_at
    FROM deliveries ORDER BY id`,
  signed_texts: 'SELECT sha256, last_received_at, signed_data FROM signed_texts ORDER BY id',
  jobs: `SELECT kind, organization_id, installation_id, part, dedupe_key, trigger, payload, state, attempts, run_at,
    claimed_until, claim, started_at, finished_at, created_at, error_or_pause_code, last_error, outcome,
    (SELECT count(*) FROM jobs AS j WHERE j.id <= jobs.merged_into) AS merged_into, only_duplicates_asked FROM jobs ORDER BY id`,
  claims: 'SELECT last FROM claims',
};

async function readTables({ db }: InboxStore): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const [name, sql] of Object.entries(TABLES)) {
    const rows = await db.rows(sql);
    tables[name] = rows.map(row =>
      'payload' in row ? { ...row, payload: JSON.parse(String(row['payload'])) } : row,
    );
  }
  return tables;
}

function createHistory(seed: number): HistoryStep[] {
  const random = createRandom(seed);
  const texts = Array.from({ length: 6 }, (_, index) => createDelivery(random, index));
  let now = NOON;
  return Array.from({ length: STEPS }, () => {
    now += pick(random, WAITS_MS, 1);
    return { now, step: createStep(random, texts, now) };
  });
}

/** Two installations share one organization. */
const getOrganization = (installation: number): string =>
  `organization-${installation % (INSTALLATIONS - 1)}`;

function createDelivery(random: () => number, index: number): ArrivedDelivery {
  const isIgnored = random() < 0.2;
  return acceptedDelivery({
    sha256: String(index).repeat(64),
    installationId: `installation-${index % INSTALLATIONS}`,
    organizationId: random() < 0.5 ? getOrganization(index % INSTALLATIONS) : null,
    ...(isIgnored && { verdict: 'ignored', reason: 'other_app' }),
  });
}

/** Creates a random step. Deliveries of one batch are sorted by installation, because the engines would number their jobs differently. */
function createStep(random: () => number, texts: readonly ArrivedDelivery[], now: number): Step {
  const [choice, second, third] = [random(), random(), random()];
  if (choice < 0.4) {
    const group = Array.from({ length: 1 + Math.floor(second * 4) }, () =>
      pick(random, texts, acceptedDelivery()),
    )
      .toSorted((a, b) => (String(a.installationId) < String(b.installationId) ? -1 : 1))
      .map(delivery => ({ ...delivery, receivedAt: now, secretIndex: third < 0.1 ? 1 : 0 }));
    return box => box.accept(group, now);
  }
  if (choice < 0.55) {
    const job = createJob(random, second, third);
    return box => box.enqueue(job, now);
  }
  if (choice < 0.75) return createClaimStep(Math.floor(second * 4), third < 0.2 ? 'certificates' : 'data');
  if (choice < 0.95) return createEndStep(second, createEnd(random, third));
  if (choice < 0.97)
    return (box, _held, at) =>
      box
        .at(at)
        .retryFailed('all')
        .then(all => all.length);
  return createEndStep(second, null);
}

function createJob(random: () => number, second: number, third: number): NewJob {
  const name = `installation-${Math.floor(second * INSTALLATIONS)}`;
  const job = createInstallationJob(
    name,
    null,
    pick(random, ['schedule', 'worker', 'person', 'delivery'], 'worker'),
  );
  const narrow = { resources: { [pick(random, ['warehouse', 'inventory'], 'warehouse')]: true } };
  return {
    ...job,
    ...(third < 0.3 && { payload: third < 0.1 ? { full: true } : narrow }),
    ...(third > 0.7 && { startDelayMs: 5000 }),
    ...(third > 0.9 && { part: 'certificates', dedupeKey: `certificates:${name}` }),
  };
}

function createClaimStep(slots: number, part: 'data' | 'certificates'): Step {
  return async (box, held, now) => {
    const { jobs, ...seen } = await box.at(now).claim({ parts: [{ part, slots }], leaseMs: 60_000 });
    for (const job of jobs) held.set(job.claim, job);
    return { ...seen, jobs: jobs.map(({ id: _, ...job }) => job) };
  };
}

const createEnd = (random: () => number, third: number): JobEnd =>
  pick<JobEnd>(
    random,
    [
      { act: 'done', outcome: third < 0.5 ? UNCHANGED_OUTCOME : 'read' },
      { act: 'retry', delayMs: 2000, error: ERROR },
      { act: 'pause', delayMs: 20_000, error: ERROR },
      { act: 'fail', error: ERROR },
      { act: 'release', delayMs: 0, error: null },
    ],
    { act: 'release', delayMs: 0, error: null },
  );

/** Creates a step that ends some job that was ever claimed, even if its claim is lost. Without an end, the step renews the claim and assigns an organization. */
function createEndStep(position: number, end: JobEnd | null): Step {
  return async (box, held, now) => {
    const job = [...held.values()].at(Math.floor(position * held.size));
    if (job === undefined) return null;
    if (end !== null) return box.end(job, end, now);
    const lost = await box.at(now).renew([job], 60_000);
    const installation = Number(job.installationId?.at(-1));
    return [lost.length, await box.at(now).assignOrganization(job, getOrganization(installation))];
  };
}

test.each(listSeeds(2, 0))(
  'P07 after the same random steps both engines hold the same rows (seed %i)',
  async seed => {
    const stores = await Promise.all(BOTH_ENGINES.map(({ store }) => store()));
    const runs = stores.map(store => ({
      store,
      box: createTestInbox(store),
      held: new Map<number, ClaimedJob>(),
    }));
    for (const [index, { now, step }] of createHistory(seed).entries()) {
      const answers: unknown[] = [];
      for (const { box, held } of runs) answers.push(withoutIds(await step(box, held, now)));
      const tables = await Promise.all(stores.map(readTables));
      const [answer, ...otherAnswers] = answers;
      for (const otherAnswer of otherAnswers) expect(otherAnswer, `answer of step ${index}`).toEqual(answer);
      const [expected, ...otherTables] = tables;
      for (const actual of otherTables) expect(actual, `tables after step ${index}`).toEqual(expected);
    }
  },
);

function withoutIds(answer: unknown): unknown {
  if (typeof answer === 'number') return 'a job';
  if (!Array.isArray(answer)) return answer;
  return answer.map(item =>
    typeof item === 'object' && item !== null && 'isDuplicate' in item ? item.isDuplicate : item,
  );
}
