import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DemoMirror } from './mirror/demo.js';
import { issueCredit } from './sandbox.js';
import { until } from './wait.js';

// biome-ignore lint: the answers are what the tests look into
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = any;

/** Table expressions whose first row depends only on the seed of the demo world, not on the order of reads. */
const FIRST_ROWS = {
  installation:
    'installations ORDER BY (SELECT full_name FROM organizations AS o WHERE o.id = installations.organization_id)',
  retirement: 'retirements ORDER BY serialization, amount_micro, created_at',
  project: 'projects ORDER BY full_name',
  credit:
    'warehouse_credits WHERE project_id IN (SELECT id FROM projects) ORDER BY project_name, serialization',
};

export interface CommandScene {
  readonly demo: DemoMirror;
  /** The folder for files that commands write. */
  readonly folder: string;
  /** Runs a command, and parses its JSON output. */
  readonly runJson: (name: string, argv: readonly string[]) => Promise<Answer>;
  /** Suffix of created names, for tests that run the commands several times. */
  readonly tag?: string;
}

/** Returns the arguments of each command that needs no other program, in an order in which every command has data to print. */
export function listCommandArguments({
  demo,
  folder,
  runJson: ask,
  tag = '',
}: CommandScene): Record<string, () => string[] | Promise<string[]>> {
  const [organizationId = ''] = demo.organizationIds;
  const warehouseCreditId = issueCredit(demo.sandbox, organizationId, { amount: 100 });
  const inventoryCreditId = issueCredit(demo.sandbox, organizationId, { amount: 100, place: 'inventory' });
  const selectValue = async (table: string, column = 'id') =>
    String((await demo.rows(`SELECT ${column} AS value FROM ${table} LIMIT 1`))[0]?.['value']);
  const organizationOption = ['--organization', organizationId];
  const reserve = [...organizationOption, '--credit-id', warehouseCreditId, '--amount', '1', '--yes'];
  const retire = ['--action', 'retire', '--beneficiary', 'Ada', '--reason', 'Testing'];
  const createAndGetId = async (name: string, argv: readonly string[]) => String((await ask(name, argv)).id);
  const createReservation = async () => await createAndGetId('reservations create', reserve);
  const waitUntilMirrored = async (table: string, creation: Promise<string>) => {
    const id = await creation;
    const count = async () => (await demo.rows(`SELECT 1 FROM ${table} WHERE id = '${id}'`)).length;
    await until(async () => (await count()) === 1, `${id} among the ${table}`);
    return id;
  };
  const createInventoryRequest = async () => {
    const retirementData = { beneficiaryName: 'Ada', reason: 'Testing' };
    const body = { creditId: inventoryCreditId, amount: 1, retirementData };
    const { id } = demo.sandbox.registry.requests.create(organizationId, demo.appId, {
      action: 'retire',
      body,
    });
    await ask('sync', organizationOption);
    return id;
  };
  const today = new Date().toISOString().slice(0, 10);
  return {
    sync: () => [...organizationOption],
    status: () => [],
    available: () => [],
    query: () => ['select 1 as one, count(*) as two from retirements'],
    doctor: () => [],
    'install-url': () => ['my-app'],
    'installations list': () => [],
    'installations show': async () => [await selectValue(FIRST_ROWS.installation)],
    'organizations list': () => [],
    'organizations show': () => [organizationId],
    'members list': () => [],
    'members show': async () => [await selectValue('members ORDER BY email')],
    'addresses list': () => [],
    'addresses show': async () => [await selectValue('addresses ORDER BY document')],
    'warehouse list': () => [],
    'warehouse show': async () => [await selectValue(FIRST_ROWS.credit, 'credit_id')],
    'inventory list': () => [],
    'inventory show': () => [inventoryCreditId],
    'retirements list': () => [],
    'retirements show': async () => [await selectValue(FIRST_ROWS.retirement)],
    'projects list': () => [],
    'projects show': async () => [await selectValue(FIRST_ROWS.project)],
    'reservations create': () => reserve,
    'reservations list': () => organizationOption,
    'reservations show': async () => [
      await waitUntilMirrored('reservations', createReservation()),
      ...organizationOption,
    ],
    'reservations finish': async () => [await createReservation(), ...organizationOption, ...retire, '--yes'],
    'reservations cancel': async () => [await createReservation(), ...organizationOption, '--yes'],
    'inventory-requests list': () => organizationOption,
    'inventory-requests show': async () => [
      await waitUntilMirrored('inventory_requests', createInventoryRequest()),
      ...organizationOption,
    ],
    'as-of': () => [today, ...organizationOption],
    compare: () => {
      const instant = new Date().toISOString();
      return ['--from', instant, '--to', instant, '--list', 'retirements', ...organizationOption];
    },
    changes: () => [],
    balance: () => [],
    // The demo has restatements only in the first half of a year.
    'restatements list': () => ['--year', '1999'],
    'certificates list': () => [],
    'certificates show': async () => [await selectValue(FIRST_ROWS.retirement)],
    'certificates export': () => [join(folder, `export${tag}`)],
    'certificates get': async () => {
      const target = join(folder, `get${tag}`);
      mkdirSync(target);
      const id = await selectValue(
        `certificates WHERE state = 'stored' ORDER BY (SELECT serialization FROM retirements AS r WHERE r.id = retirement_id)`,
        'retirement_id',
      );
      return [id, '--folder', target];
    },
    'orders list': async () => {
      await insertOrder(demo, warehouseCreditId);
      return [];
    },
    'orders show': () => ['1'],
    'syncs list': () => [],
    'syncs show': () => ['1'],
    'deliveries list': () => [],
    'deliveries show': () => ['1'],
    'deliveries rejected': () => [],
    'deliveries replay': () => ['1'],
    'retirements totals': () => ['--by', 'organization'],
    'jobs list': () => [],
    'jobs show': () => ['1'],
    'jobs retry': () => ['--all'],
    backup: () => [join(folder, `backup${tag}`)],
    snapshot: () => [join(folder, `copy${tag}.db`)],
    schema: () => [],
    migrate: () => [],
    verify: () => [],
    'subscriptions list': () => [],
    'subscriptions new-epoch': () => [],
    api: () => [],
    'tokens create': () => [`token${tag}`],
    'tokens list': () => [],
    'tokens revoke': () => [`token${tag}`],
    trigger: () => ['warehouseTransaction', ...organizationOption],
    'sandbox start': () => ['--port', '0', '--folder', join(folder, `sandbox${tag}`)],
  };
}

/** Stores an order that was refused, unless it is stored. */
async function insertOrder(
  { change, organizationIds: [organizationId = ''] }: DemoMirror,
  creditId: string,
): Promise<void> {
  await change(
    `INSERT INTO inbox.orders (key, actor, action, organization_id, credit_id, amount_exact, state, result, created_at, finished_at)
      VALUES ('an order', 'dana@example.com', 'reserve', ?, ?, '2.5', 'refused', 'Only 1 t is available.', ?, ?)
      ON CONFLICT DO NOTHING`,
    organizationId,
    creditId,
    '2026-05-04T12:00:00.000Z',
    '2026-05-04T12:00:01.000Z',
  );
}
