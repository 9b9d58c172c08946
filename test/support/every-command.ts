import { join } from 'node:path';
import type { DemoMirror } from './mirror/demo.js';
import { issueCredit } from './sandbox.js';
import { until } from './wait.js';

// biome-ignore lint: the answers are what the tests look into
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = any;

/** Table expressions whose first row depends only on the seed of the demo world, not on the order of reads. */
const OLDEST = {
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
  readonly ask: (name: string, words: readonly string[]) => Promise<Answer>;
  /** Suffix of created names, for tests that run the commands several times. */
  readonly tag?: string;
}

/** Returns the arguments of each command that needs no other program, in an order in which every command has data to print. */
export function listCommandArguments({
  demo,
  folder,
  ask,
  tag = '',
}: CommandScene): Record<string, () => string[] | Promise<string[]>> {
  const [owner = ''] = demo.organizationIds;
  const offered = issueCredit(demo.sandbox, owner, { amount: 100 });
  const kept = issueCredit(demo.sandbox, owner, { amount: 100, place: 'inventory' });
  const one = async (table: string, column = 'id') =>
    String((await demo.rows(`SELECT ${column} AS value FROM ${table} LIMIT 1`))[0]?.['value']);
  const of = ['--organization', owner];
  const reserve = [...of, '--credit-id', offered, '--amount', '1'];
  const retire = ['--action', 'retire', '--beneficiary', 'Ada', '--reason', 'Testing'];
  const made = async (name: string, words: readonly string[]) => String((await ask(name, words)).id);
  const held = async () => await made('reservations create', reserve);
  const mirrored = async (table: string, making: Promise<string>) => {
    const id = await making;
    const count = async () => (await demo.rows(`SELECT 1 FROM ${table} WHERE id = '${id}'`)).length;
    await until(async () => (await count()) === 1, `${id} among the ${table}`);
    return id;
  };
  const asked = async () => {
    const retirementData = { beneficiaryName: 'Ada', reason: 'Testing' };
    const body = { creditId: kept, amount: 1, retirementData };
    const { id } = demo.sandbox.registry.requests.create(owner, demo.appId, { action: 'retire', body });
    await ask('sync', of);
    return id;
  };
  const today = new Date().toISOString().slice(0, 10);
  return {
    sync: () => [...of],
    status: () => [],
    available: () => [],
    query: () => ['select 1 as one, count(*) as two from retirements'],
    doctor: () => [],
    'install-url': () => ['my-app'],
    'installations list': () => [],
    'installations show': async () => [await one(OLDEST.installation)],
    'organizations list': () => [],
    'organizations show': () => [owner],
    'members list': () => [],
    'members show': async () => [await one('members ORDER BY email')],
    'addresses list': () => [],
    'addresses show': async () => [await one('addresses ORDER BY document')],
    'warehouse list': () => [],
    'warehouse show': async () => [await one(OLDEST.credit, 'credit_id')],
    'inventory list': () => [],
    'inventory show': () => [kept],
    'retirements list': () => [],
    'retirements show': async () => [await one(OLDEST.retirement)],
    'projects list': () => [],
    'projects show': async () => [await one(OLDEST.project)],
    'reservations create': () => reserve,
    'reservations list': () => of,
    'reservations show': async () => [await mirrored('reservations', held()), ...of],
    'reservations finish': async () => [await held(), ...of, ...retire, '--yes'],
    'reservations cancel': async () => [await held(), ...of, '--yes'],
    'inventory-requests list': () => of,
    'inventory-requests show': async () => [await mirrored('inventory_requests', asked()), ...of],
    'as-of': () => [today, ...of],
    changes: () => [],
    balance: () => [],
    'certificates list': () => [],
    'certificates show': async () => [await one(OLDEST.retirement)],
    'certificates export': () => [join(folder, `export${tag}`)],
    'syncs list': () => [],
    'syncs show': () => ['1'],
    'deliveries list': () => [],
    'deliveries show': () => ['1'],
    'deliveries rejected': () => [],
    'jobs list': () => [],
    'jobs show': () => ['1'],
    'jobs retry': () => ['--all'],
    backup: () => [join(folder, `backup${tag}`)],
    snapshot: () => [join(folder, `copy${tag}.db`)],
    schema: () => [],
    migrate: () => [],
    verify: () => [],
    trigger: () => ['warehouseTransaction', ...of],
    'sandbox start': () => ['--port', '0', '--folder', join(folder, `sandbox${tag}`)],
  };
}
