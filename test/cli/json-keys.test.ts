import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { listCommands } from '../support/commands.js';
import { type DemoMirror, startDemoMirror } from '../support/demo-mirror.js';
import { copyMirror } from '../support/mirror-copy.js';
import { startProcess } from '../support/processes.js';
import { createPrivateKey, issueCredit, publicKeyOf } from '../support/sandbox.js';

let demo: DemoMirror;
let folder: string;

beforeAll(async () => {
  demo = await startDemoMirror();
  folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-json-'));
});

afterAll(async () => {
  await demo.stop();
  rmSync(folder, { recursive: true });
});

// biome-ignore lint: the answers are what the test looks into
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = any;

async function ask(name: string, words: readonly string[], env = demo.env): Promise<Answer> {
  const argv = [...name.split(' '), ...words, '--json'];
  const interruption = () => AbortSignal.abort();
  const { exitCode, stdout, stderr } = await runCommand(argv, {
    env,
    ...(name === 'sandbox start' ? { interruption } : {}),
  });
  expect(exitCode, `${argv.join(' ')}\n${stderr}`).toBe(0);
  return JSON.parse(stdout);
}

/** What the registry itself sent stands below these, as it was sent. */
const AS_SENT = ['content', 'document', 'body'];

function wrongKeys(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(wrongKeys);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(/^[a-z0-9_]+$/.test(name) ? [] : [name]),
    ...(AS_SENT.includes(name) ? [] : wrongKeys(inner)),
  ]);
}

/** Words after each command that can print JSON, in an order in which all of them have something to answer. */
function everyCommand(): Record<string, () => string[] | Promise<string[]>> {
  const [owner = '', receiver = ''] = demo.organizationIds;
  const offered = issueCredit(demo.sandbox, owner, { amount: 100 });
  const kept = issueCredit(demo.sandbox, owner, { amount: 100, place: 'inventory' });
  const one = async (table: string, column = 'id') =>
    String(
      (await demo.rows(`SELECT ${column} AS value FROM ${table} ORDER BY version LIMIT 1`))[0]?.['value'],
    );
  const of = ['--organization', owner];
  const reserve = [...of, '--credit-id', offered, '--amount', '1'];
  const retire = ['--action', 'retire', '--beneficiary', 'Ada', '--reason', 'Testing'];
  const request = [...of, '--credit-id', kept, '--amount', '1', ...retire, '--yes'];
  const made = async (name: string, words: readonly string[]) => String((await ask(name, words)).id);
  const held = async () => await made('reservations create', reserve);
  const asked = async () => await made('inventory-requests create', request);
  const first = async (name: string) => String((await ask(name, []))[0].id);
  const queued = async () => {
    await ask('sandbox faults add', ['transactionQueues', '--count', '1']);
    await ask('sandbox requests accept', [await asked()]);
    const all: { id: string; status: string }[] = await ask('sandbox transactions list', []);
    return String(all.find(({ status }) => status === 'pending_queue')?.id);
  };
  const today = new Date().toISOString().slice(0, 10);
  const key = join(folder, 'key.pem');
  const newApp = async () => await made('sandbox apps register', ['--name', `app ${Math.random()}`]);
  const delivery = async () => String((await ask('sandbox deliveries list', []))[0].id);
  const move = [...of, '--credit-id', kept, '--amount', '1'];
  writeFileSync(key, publicKeyOf(createPrivateKey()));
  return {
    sync: () => [...of],
    status: () => [],
    available: () => [],
    query: () => ['select 1 as one, count(*) as two from retirements'],
    doctor: () => [],
    'installations list': () => [],
    'installations show': async () => [await one('installations')],
    'organizations list': () => [],
    'organizations show': () => [owner],
    'organizations create': () => [...newOrganization('Pier'), '--yes'],
    'members list': () => [],
    'addresses list': () => [],
    'warehouse list': () => [],
    'inventory list': () => [],
    'retirements list': () => [],
    'retirements show': async () => [await one('retirements')],
    'projects list': () => [],
    'projects show': async () => [await one('projects')],
    'projects find': async () => [
      '--credit-id',
      await one('warehouse_credits WHERE project_id IN (SELECT id FROM projects)', 'credit_id'),
    ],
    'reservations create': () => reserve,
    'reservations list': () => ['--live', ...of],
    'reservations show': async () => [await held(), '--live', ...of],
    'reservations finish': async () => [await held(), ...of, ...retire, '--yes'],
    'reservations cancel': async () => [await held(), ...of, '--yes'],
    'inventory-requests create': () => request,
    'inventory-requests list': () => ['--live', ...of],
    'inventory-requests show': async () => [await asked(), '--live', ...of],
    'as-of': () => [today, ...of],
    changes: () => [],
    explain: async () => ['retirements', await one('retirements')],
    history: async () => ['retirements', await one('retirements')],
    'certificates list': () => [],
    'certificates verify': () => [],
    'certificates export': () => [join(folder, 'export')],
    'runs list': () => [],
    'deliveries list': () => [],
    'deliveries show': () => ['1'],
    'deliveries replay': () => ['1'],
    'jobs list': () => [],
    'jobs show': () => ['1'],
    'jobs retry': () => ['--all'],
    snapshot: () => [join(folder, 'copy.db')],
    schema: () => [],
    migrate: () => [],
    verify: () => [],
    trigger: () => ['warehouseTransaction', ...of],
    api: () => ['GET', '/projects?limit=1&page=0', '--as', 'app'],
    friendbot: () => [...of, '--yes'],
    'sandbox start': () => ['--port', '0', '--folder', join(folder, 'sandbox')],
    'sandbox status': () => [],
    'sandbox apps list': () => [],
    'sandbox apps show': () => [demo.appId],
    'sandbox apps register': () => ['--name', 'Shop', '--permission', 'organization_warehouse:write'],
    'sandbox apps change': async () => [await newApp(), '--webhook-url', 'http://127.0.0.1:9/'],
    'sandbox apps add-key': async () => [await newApp(), '--public-key', key],
    'sandbox apps remove-key': async () => {
      const id = await newApp();
      const { keys } = await ask('sandbox apps add-key', [id, '--public-key', key]);
      return [id, '--fingerprint', String(keys[0].fingerprint)];
    },
    'sandbox organizations list': () => [],
    'sandbox organizations create': () => newOrganization('Quay'),
    'sandbox organizations claim': () => ['Pier'],
    'sandbox installations list': () => [],
    'sandbox installations install': () => ['--app', demo.appId, '--organization', 'Quay'],
    'sandbox installations suspend': () => ['Quay'],
    'sandbox installations unsuspend': () => ['Quay'],
    'sandbox installations accept-permissions': () => ['Quay'],
    'sandbox installations uninstall': () => ['Quay'],
    'sandbox requests list': () => [],
    'sandbox requests accept': async () => [await asked()],
    'sandbox requests decline': async () => [await asked()],
    'sandbox projects list': () => [],
    'sandbox projects create': () => ['--name', 'Peat bog', '--country', 'IS', '--proponent', receiver],
    'sandbox projects change': () => ['Peat bog', '--public', 'no'],
    'sandbox credits issue': () => [...of, '--project', 'Peat bog', '--amount', '10'],
    'sandbox credits deposit': () => move,
    'sandbox credits withdraw': () => move,
    'sandbox credits retire-off-platform': () => move,
    'sandbox credits claim-retirement': async () => [
      await made('sandbox credits retire-off-platform', move),
      ...retire.slice(2),
    ],
    'sandbox calls list': () => [],
    'sandbox transactions list': () => [],
    'sandbox transactions process': async () => [await queued()],
    'sandbox transactions fail': async () => [await queued()],
    'sandbox reservations list': () => [],
    'sandbox reservations expire': async () => {
      await held();
      return [await first('sandbox reservations list')];
    },
    'sandbox tokens list': () => [],
    'sandbox tokens expire': async () => [await first('sandbox tokens list')],
    'sandbox webhooks show': () => [],
    'sandbox webhooks change': () => ['--hold', 'yes'],
    'sandbox deliveries list': () => [],
    'sandbox deliveries show': async () => [await delivery()],
    'sandbox deliveries drop': async () => {
      demo.sandbox.registry.installations.suspend(await one('installations'));
      return [await delivery()];
    },
    'sandbox deliveries release': () => [],
    'sandbox deliveries resend': async () => [await delivery()],
    'sandbox faults list': () => [],
    'sandbox faults add': () => ['status', '--status', '503', '--path', '/none', '--retry-after', '2'],
    'sandbox faults remove': async () => [
      await made('sandbox faults add', ['status', '--status', '503', '--path', '/none']),
    ],
    'sandbox faults clear': () => [],
    'sandbox clock show': () => [],
    'sandbox clock freeze': () => [],
    'sandbox clock run': () => [],
    'sandbox clock move': () => ['1s'],
    'sandbox clock back': () => ['1s'],
    'sandbox clock set': () => [new Date().toISOString()],
  };
}

function newOrganization(name: string): string[] {
  const email = `ada@${name.toLowerCase()}.example`;
  return ['--name', name, '--type', 'marketParticipant', '--country', 'IS', '--email', email];
}

/** They take away what the others read: each is run on a copy. */
const REMOVING = {
  purge: (id: string, name: string) => ['--organization', id, '--confirm', name, '--force'],
  forget: () => ['--person', 'ada@harbour.example'],
};

/** It never ends by itself. */
const ENDLESS = 'deliveries tail';

test('keys are snake_case in everything that --json prints, in every command', async () => {
  const commands = await listCommands();
  const printing = commands.filter(({ command }) => command.options.some(({ long }) => long === '--json'));
  const known = everyCommand();
  expect([...Object.keys(known), ...Object.keys(REMOVING), ENDLESS].toSorted()).toEqual(
    printing.map(({ name }) => name).toSorted(),
  );
  const wrong: Record<string, string[]> = {};
  for (const [name, words] of Object.entries(known)) {
    const keys = wrongKeys(await ask(name, await words()));
    if (keys.length > 0) wrong[name] = keys;
  }
  const [organization] = await demo.rows('SELECT id, full_name AS name FROM organizations LIMIT 1');
  for (const [name, words] of Object.entries(REMOVING)) {
    const env = { DATA_DIR: copyMirror(demo.folder).folder };
    const said = words(String(organization?.['id']), String(organization?.['name']));
    const keys = wrongKeys(await ask(name, said, env));
    if (keys.length > 0) wrong[name] = keys;
  }
  expect(wrong).toEqual({});
}, 240_000);

test('keys are snake_case in the deliveries that are followed', async () => {
  const tail = startProcess(['deliveries', 'tail', '--json'], { DATA_DIR: demo.folder });
  await expect.poll(() => tail.said(), { timeout: 20_000 }).toContain('Waiting for deliveries');
  await ask('trigger', ['warehouseTransaction', '--organization', demo.organizationIds[1] ?? '']);
  const line = await tail.line(({ event }) => event === 'warehouseTransaction');
  expect(wrongKeys(line)).toEqual([]);
}, 60_000);
