import { expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/start.js';
import { createRandom, type Random } from '../../src/sandbox/world/seeded-random.js';
import {
  type Answer,
  copyJournalAsKilled,
  callSandbox,
  createOrganization,
  installApp,
  issueCredit,
  sumIssuedMicro,
  mintToken,
  listAllRows,
  startTemporarySandbox,
  findUnbalancedCredits,
} from '../support/sandbox.js';

/** `npm run torture -- credits` plays more and different sequences. */
const SEQUENCES = Number(process.env['CREDITS_SEQUENCES'] ?? 60);
const FIRST = Number(process.env['CREDITS_FIRST'] ?? 0);
/** Each kind of step must have succeeded and been refused more often than this. */
const MIN_COUNT = SEQUENCES / 50;
const AT_ONCE = 10;
const STEPS = 6;
const START_TONNES = 200.25;
const FRIENDBOT_TONNES = 100;
const MINUTE_MS = 60_000;
const RETIREMENT = { reason: 'Other', beneficiaryName: 'Nordlys', comment: '' };

/** The state that the sequences of operations change, and their counts. */
interface Stage {
  readonly sandbox: Sandbox;
  readonly apps: readonly [ReturnType<typeof installApp>, ...ReturnType<typeof installApp>[]];
  readonly receivers: readonly [string, ...string[]];
  readonly credits: readonly [string, ...string[]];
  /** Shared by all sequences, so that they act on the same reservations and requests. */
  readonly reservations: string[];
  readonly requests: string[];
  /** Tonnes, one entry for each issue that the control API confirmed. */
  readonly issued: number[];
  readonly tally: Map<string, number>;
}

test(`P08 credits are conserved over ${SEQUENCES} random sequences of operations, ten of them at a time`, async () => {
  const stage = await openStage();
  const { sandbox, tally } = stage;
  for (let first = FIRST; first < FIRST + SEQUENCES; first += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => playSequence(stage, first + index)),
    );
    expect(findUnbalancedCredits(sandbox)).toEqual([]);
  }
  // A replay of the journal gives the same rows.
  const again = await startTemporarySandbox({ folder: copyJournalAsKilled(sandbox) });
  expect(listAllRows(again)).toEqual(listAllRows(sandbox));
  const friendbots = (tally.get('friendbot done') ?? 0) * FRIENDBOT_TONNES;
  expect(sumIssuedMicro(sandbox)).toBe(
    Math.round([...stage.issued, friendbots].reduce((sum, tonnes) => sum + tonnes) * 1_000_000),
  );
  // Otherwise the sums would prove little.
  for (const step of [
    'reserve',
    'cancel',
    'transfer',
    'retire',
    'transfer_retire',
    'deposit',
    'request',
    'accept',
  ]) {
    expect(tally.get(`${step} done`), `${step} done`).toBeGreaterThan(MIN_COUNT);
    expect(tally.get(`${step} refused`), `${step} refused`).toBeGreaterThan(MIN_COUNT);
  }
  const { reservations, transactions } = sandbox.registry.store.tables;
  const expired = reservations.list().filter(({ state }) => state === 'expired');
  expect(expired.length).toBeGreaterThan(MIN_COUNT);
  const accepted = transactions.list().filter(({ event }) => event === 'organizationTransaction');
  expect(accepted.length).toBeGreaterThan(MIN_COUNT);
});

/** Starts a sandbox with three apps, three receivers and three credits. */
async function openStage(): Promise<Stage> {
  const sandbox = await startTemporarySandbox();
  const owner = installApp(sandbox);
  const { organization } = owner;
  const neighbour = installApp(sandbox, { organization });
  const receiver = installApp(sandbox);
  const credit = () => issueCredit(sandbox, organization.id, { amount: START_TONNES });
  return {
    sandbox,
    apps: [owner, neighbour, receiver],
    receivers: [organization.id, receiver.organization.id, createOrganization(sandbox).id],
    credits: [credit(), credit(), credit()],
    reservations: [],
    requests: [],
    issued: Array(3).fill(START_TONNES),
    tally: new Map(),
  };
}

/** Plays one random sequence of operations, as one of the apps. */
async function playSequence(stage: Stage, sequenceNumber: number): Promise<void> {
  const random = createRandom(20_231, 'sequence', sequenceNumber);
  const { app, organization, installationId } = random.pick(stage.apps);
  const token = mintToken(stage.sandbox, app, installationId);
  const base = `/organizations/${organization.id}`;
  for (let step = 0; step < STEPS; step++)
    await playStep(stage, random, { token, base, organizationId: organization.id });
}

interface SequenceContext {
  readonly token: string;
  readonly base: string;
  readonly organizationId: string;
}

/** Plays one random operation and counts whether it was done or refused. */
async function playStep(
  stage: Stage,
  random: Random,
  { token, base, organizationId }: SequenceContext,
): Promise<void> {
  const { sandbox, credits, receivers, reservations, requests } = stage;
  const creditId = random.pick(credits);
  const amount = random.pick([1, 2.5, 0.000001, 7, 30, 1_000, 0, -1]);
  const action = random.pick(['transfer', 'retire', 'transfer_retire']);
  const to = random.pick([...receivers, '00000000-0000-4000-8000-000000000000']);
  const control = `/_sandbox/organizations/${organizationId}`;
  const reservation = `${base}/warehouse/inventory/reservations/${pickRecent(random, reservations)}`;

  async function callAndCount(step: string, call: string, body?: object): Promise<Answer['body']> {
    const answer = await callSandbox(sandbox, call, { token, ...(body && { body }) });
    const outcome = `${step} ${answer.status < 300 ? 'done' : 'refused'}`;
    stage.tally.set(outcome, (stage.tally.get(outcome) ?? 0) + 1);
    return answer.status < 300 ? answer.body : undefined;
  }

  switch (random.below(12)) {
    case 0:
    case 1:
    case 2:
      addId(
        reservations,
        await callAndCount('reserve', `POST ${base}/warehouse/inventory/reservations`, { creditId, amount }),
      );
      return;
    case 3:
      await callAndCount('cancel', `DELETE ${reservation}`);
      return;
    case 4:
    case 5:
      await callAndCount(action, `POST ${reservation}/${action}`, {
        receiverId: to,
        retirementData: RETIREMENT,
      });
      return;
    case 6:
      await callAndCount('deposit', `POST ${control}/deposit`, { creditId, amount });
      return;
    case 7:
      await callAndCount('withdraw', `POST ${control}/withdraw`, { creditId, amount });
      return;
    case 8: {
      const order = { creditId, amount, toOrganizationId: to, retirementData: RETIREMENT };
      addId(requests, await callAndCount('request', `POST ${base}/inventory/requests/${action}`, order));
      return;
    }
    case 9: {
      const decision = random.pick(['accept', 'accept', 'decline']);
      await callAndCount(decision, `POST /_sandbox/requests/${pickRecent(random, requests)}/${decision}`);
      return;
    }
    case 10:
      await callAndCount('off-platform', `POST ${control}/retire-off-platform`, { creditId, amount });
      await callAndCount('friendbot', `GET ${base}/friendbot`);
      return;
    default:
      if (await callAndCount('issue', 'POST /_sandbox/credits', { organizationId, creditId, amount }))
        stage.issued.push(amount);
      await callAndCount('clock', 'POST /_sandbox/clock', { moveMs: random.below(3) * MINUTE_MS });
  }
}

/** Picks one of the last ids, whose reservation may still be outstanding. */
function pickRecent(random: Random, ids: readonly string[]): string {
  return ids[ids.length - 1 - random.below(Math.min(ids.length, 12))] ?? 'none';
}

function addId(ids: string[], created: Answer['body']): void {
  if (created !== undefined) ids.push(created.id);
}
