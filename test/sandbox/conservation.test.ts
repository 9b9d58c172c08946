import { expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/start.js';
import { createRandom, type Random } from '../../src/sandbox/world/random.js';
import {
  type Answer,
  copyJournalAsKilled,
  ask,
  createOrganization,
  installApp,
  issueCredit,
  issuedMicro,
  mintToken,
  rowsOf,
  temporarySandbox,
  findUnbalancedCredits,
} from '../support/sandbox.js';

/** `npm run torture -- credits` plays a thousand of them, and other ones. */
const SEQUENCES = Number(process.env['CREDITS_SEQUENCES'] ?? 60);
const FIRST = Number(process.env['CREDITS_FIRST'] ?? 0);
/** How often each kind of step has both worked and been refused, at least. */
const OFTEN = SEQUENCES / 50;
const AT_ONCE = 10;
const STEPS = 6;
const START_TONNES = 200.25;
const FRIENDBOT_TONNES = 100;
const MINUTE_MS = 60_000;
const RETIREMENT = { reason: 'Other', beneficiaryName: 'Nordlys', comment: '' };

interface Stage {
  readonly sandbox: Sandbox;
  readonly apps: readonly [ReturnType<typeof installApp>, ...ReturnType<typeof installApp>[]];
  readonly receivers: readonly [string, ...string[]];
  readonly credits: readonly [string, ...string[]];
  /** Shared by all sequences, so that they meet on the same reservations and requests. */
  readonly reservations: string[];
  readonly requests: string[];
  /** Tonnes, one entry for each issue that the control API confirmed. */
  readonly issued: number[];
  readonly tally: Map<string, number>;
}

test(`P08 credits are conserved over ${SEQUENCES} random sequences of operations, ten at a time`, async () => {
  const stage = await setUp();
  const { sandbox, tally } = stage;
  for (let first = FIRST; first < FIRST + SEQUENCES; first += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => playSequence(stage, first + index)),
    );
    expect(findUnbalancedCredits(sandbox)).toEqual([]);
  }
  // Whatever was played is the same when it is done again.
  const again = await temporarySandbox({ folder: copyJournalAsKilled(sandbox) });
  expect(rowsOf(again)).toEqual(rowsOf(sandbox));
  const friendbots = (tally.get('friendbot done') ?? 0) * FRIENDBOT_TONNES;
  expect(issuedMicro(sandbox)).toBe(
    Math.round([...stage.issued, friendbots].reduce((sum, tonnes) => sum + tonnes) * 1_000_000),
  );
  // Each kind of step has worked and has been refused, else the sums would prove little.
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
    expect(tally.get(`${step} done`), `${step} done`).toBeGreaterThan(OFTEN);
    expect(tally.get(`${step} refused`), `${step} refused`).toBeGreaterThan(OFTEN);
  }
  const { reservations, transactions } = sandbox.registry.store.tables;
  const expired = reservations.list().filter(({ state }) => state === 'expired');
  expect(expired.length).toBeGreaterThan(OFTEN);
  const accepted = transactions.list().filter(({ event }) => event === 'organizationTransaction');
  expect(accepted.length).toBeGreaterThan(OFTEN);
});

async function setUp(): Promise<Stage> {
  const sandbox = await temporarySandbox();
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

async function playSequence(stage: Stage, number: number): Promise<void> {
  const random = createRandom(20_231, 'sequence', number);
  const { app, organization, installationId } = random.pick(stage.apps);
  const token = mintToken(stage.sandbox, app, installationId);
  const base = `/organizations/${organization.id}`;
  for (let step = 0; step < STEPS; step++)
    await playStep(stage, random, { token, base, organizationId: organization.id });
}

interface Player {
  readonly token: string;
  readonly base: string;
  readonly organizationId: string;
}

async function playStep(
  stage: Stage,
  random: Random,
  { token, base, organizationId }: Player,
): Promise<void> {
  const { sandbox, credits, receivers, reservations, requests } = stage;
  const creditId = random.pick(credits);
  const amount = random.pick([1, 2.5, 0.000001, 7, 30, 1_000, 0, -1]);
  const action = random.pick(['transfer', 'retire', 'transfer_retire']);
  const to = random.pick([...receivers, '00000000-0000-4000-8000-000000000000']);
  const control = `/_sandbox/organizations/${organizationId}`;
  const reservation = `${base}/warehouse/inventory/reservations/${some(random, reservations)}`;

  async function note(step: string, call: string, body?: object): Promise<Answer['body']> {
    const answer = await ask(sandbox, call, { token, ...(body && { body }) });
    const outcome = `${step} ${answer.status < 300 ? 'done' : 'refused'}`;
    stage.tally.set(outcome, (stage.tally.get(outcome) ?? 0) + 1);
    return answer.status < 300 ? answer.body : undefined;
  }

  switch (random.below(12)) {
    case 0:
    case 1:
    case 2:
      keep(
        reservations,
        await note('reserve', `POST ${base}/warehouse/inventory/reservations`, { creditId, amount }),
      );
      return;
    case 3:
      await note('cancel', `DELETE ${reservation}`);
      return;
    case 4:
    case 5:
      await note(action, `POST ${reservation}/${action}`, { receiverId: to, retirementData: RETIREMENT });
      return;
    case 6:
      await note('deposit', `POST ${control}/deposit`, { creditId, amount });
      return;
    case 7:
      await note('withdraw', `POST ${control}/withdraw`, { creditId, amount });
      return;
    case 8: {
      const order = { creditId, amount, toOrganizationId: to, retirementData: RETIREMENT };
      keep(requests, await note('request', `POST ${base}/inventory/requests/${action}`, order));
      return;
    }
    case 9: {
      const decision = random.pick(['accept', 'accept', 'decline']);
      await note(decision, `POST /_sandbox/requests/${some(random, requests)}/${decision}`);
      return;
    }
    case 10:
      await note('off-platform', `POST ${control}/retire-off-platform`, { creditId, amount });
      await note('friendbot', `GET ${base}/friendbot`);
      return;
    default:
      if (await note('issue', 'POST /_sandbox/credits', { organizationId, creditId, amount }))
        stage.issued.push(amount);
      await note('clock', 'POST /_sandbox/clock', { moveMs: random.below(3) * MINUTE_MS });
  }
}

/** Mostly a late one, which may still be outstanding. */
function some(random: Random, ids: readonly string[]): string {
  return ids[ids.length - 1 - random.below(Math.min(ids.length, 12))] ?? 'none';
}

function keep(ids: string[], made: Answer['body']): void {
  if (made !== undefined) ids.push(made.id);
}
