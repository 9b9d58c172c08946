import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/start.js';
import {
  ask,
  type Installed,
  installApp,
  issueCredit,
  registerApp,
  startTestSandbox,
} from '../support/sandbox.js';

const SEQUENCES = 1000;
const AT_ONCE = 10;
const MINUTE_MS = 60_000;

let sandbox: Sandbox;
let stop: () => Promise<void>;
let callers: Installed[];
let credits: string[];

beforeAll(async () => {
  ({ sandbox, stop } = await startTestSandbox());
  const [app, other] = [registerApp(sandbox), registerApp(sandbox)];
  const first = installApp(sandbox, { app });
  const { organization } = first;
  callers = [first, installApp(sandbox, { app: other, organization }), installApp(sandbox, { app })];
  credits = callers.flatMap(({ organization: { id } }) => [
    issueCredit(sandbox, id, { amount: 40.5 }),
    issueCredit(sandbox, id, { place: 'inventory', amount: 40.123456 }),
  ]);
});
afterAll(async () => stop());

/** Mulberry32: the same numbers for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Credits whose issued amount is not what stands in warehouses, inventories, holds and retirements. */
function findImbalance(): unknown[] {
  return sandbox.registry.store.db
    .prepare(
      `select c.id, c.issued_micro, coalesce(h.held, 0) + coalesce(r.reserved, 0) + coalesce(t.retired, 0) as found
       from credits c
       left join (select credit_id, sum(amount_micro) as held from holdings group by 1) h on h.credit_id = c.id
       left join (select credit_id, sum(amount_micro) as reserved from reservations
                  where state = 'outstanding' group by 1) r on r.credit_id = c.id
       left join (select credit_id, sum(amount_micro) as retired from retirements group by 1) t on t.credit_id = c.id
       where c.issued_micro <> found`,
    )
    .all();
}

const reservationIds: string[] = [];
const requestIds: string[] = [];
const outcomes = new Map<string, number>();

async function runOne(random: () => number): Promise<void> {
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  const caller = pick(callers);
  if (caller === undefined) return;
  const root = `/organizations/${caller.organization.id}`;
  const queue = `${root}/warehouse/inventory/reservations`;
  const creditId = pick(credits);
  const amount = Math.ceil(random() * (random() < 0.2 ? 60_000_000 : 3_000_000)) / 1_000_000;
  const receiverId = pick(callers)?.organization.id;
  const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };
  const action = pick(['transfer', 'retire', 'transfer_retire']) ?? '';
  const held = `${queue}/${pick(reservationIds.slice(-20)) ?? 'none'}`;
  const request = `/_sandbox/requests/${pick(requestIds.slice(-10)) ?? 'none'}`;
  const organization = `/_sandbox${root}`;
  const operations: readonly [string, string, object?][] = [
    ['reserve', `POST ${queue}`, { creditId, amount }],
    ['cancel', `DELETE ${held}`],
    [`finish ${action}`, `POST ${held}/${action}`, { receiverId, retirementData }],
    [
      'request',
      `POST ${root}/inventory/requests/${action}`,
      { creditId, amount, toOrganizationId: receiverId, retirementData },
    ],
    ['accept', `POST ${request}/accept`],
    ['decline', `POST ${request}/decline`],
    ['deposit', `POST ${organization}/deposit`, { creditId, amount }],
    ['withdraw', `POST ${organization}/withdraw`, { creditId, amount }],
    [
      'off-platform',
      `POST ${organization}/retire-off-platform`,
      { creditId, amount: amount / 8 > 1 ? 1 : amount },
    ],
    [
      'issue',
      'POST /_sandbox/credits',
      { organizationId: caller.organization.id, creditId, amount, place: 'warehouse' },
    ],
    ['friendbot', `GET ${root}/friendbot`],
    ['time', 'POST /_sandbox/clock', { moveMs: Math.floor(random() * 4 * MINUTE_MS) }],
  ];
  const weighted = [0, 0, 0, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 11, 11];
  const [name, call, body] = operations[pick(weighted) ?? 0] ?? ['', ''];
  if (name === '') return;
  const needsToken = !call.includes('/_sandbox/');
  const { status, body: answer } = await ask(sandbox, call, {
    ...(needsToken && { token: caller.token }),
    ...(body !== undefined && { body }),
  });
  expect([200, 403, 404, 409]).toContain(status);
  if (status !== 200) return;
  outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
  if (name === 'reserve') reservationIds.push(answer.id);
  if (name === 'request') requestIds.push(answer.id);
}

async function runSequence(seed: number): Promise<void> {
  const random = createRandom(seed);
  const length = 3 + Math.floor(random() * 6);
  for (let step = 0; step < length; step += 1) await runOne(random);
}

test(`credits are conserved over ${SEQUENCES} random sequences of operations, ten at once`, async () => {
  // Tokens must outlive the minutes that the sequences let pass.
  sandbox.registry.store.db.prepare(`update tokens set expires_at = '2999-01-01T00:00:00.000Z'`).run();
  for (let first = 0; first < SEQUENCES; first += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => runSequence(first + index)));
    expect(findImbalance()).toEqual([]);
  }
  for (const name of [
    'reserve',
    'cancel',
    'finish transfer',
    'finish retire',
    'finish transfer_retire',
    'request',
  ]) {
    expect(outcomes.get(name), name).toBeGreaterThan(20);
  }
  for (const name of [
    'accept',
    'decline',
    'deposit',
    'withdraw',
    'off-platform',
    'issue',
    'friendbot',
    'time',
  ]) {
    expect(outcomes.get(name), name).toBeGreaterThan(20);
  }
  const expired = sandbox.registry.store.db
    .prepare(`select count(*) from reservations where state = 'expired'`)
    .pluck()
    .get();
  expect(expired).toBeGreaterThan(20);
});
