import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Program, startProgram } from '../support/program.js';
import { startProxy } from '../support/proxy.js';
import { createOrganization, issueCredit, retireFromWarehouse } from '../support/sandbox.js';
import { startWorkProcess } from '../support/work-process.js';

const MB = 1024 * 1024;
/** The memory limit of a worker that receives only such responses; 195 MB were measured. */
const MAX_WORKER_MB = 300;

const deep = `${'['.repeat(8 * MB)}${']'.repeat(8 * MB)}`;
const small = (bytes: number) => `[${'{},'.repeat(bytes / 3)}{}]`;
const list = (name: string, row: string) => `{"${name}":[${row}],"pagination":{"total":1,"nextPage":null}}`;

/** Responses of 16 MB; smaller ones are refused for a row after the whole response was parsed. */
const HOSTILE_RESPONSES: Readonly<Record<string, string>> = {
  'warehouse/inventory': list('credits', `{"id":"c","amount":1,"x":${deep}}`),
  reservations: list('reservations', `{"id":"r","amount":1,"x":${small(1.9 * MB)}}`),
  inventory: list('credits', `{"id":"c","amount":1,"x":${small(15.9 * MB)}}`),
  requests: list('creditRequests', `{"id":"r","amount":1,"x":${small(15.9 * MB)}}`),
  addresses: list('addresses', `{"x":${small(1.9 * MB)}}`),
  members: list('members', '{"id":"m","fullName":"Eve"},'.repeat(60_000).slice(0, -1)),
  retirements: list('retirements', `{"id":"r","amount":1,"x":${deep}}`),
};

const TABLES = [
  'warehouse_credits',
  'inventory_credits',
  'reservations',
  'retirements',
  'members',
  'addresses',
];

function createHostileResponse(path: string): string | null {
  const [way = ''] = path.split('?');
  const ending = Object.keys(HOSTILE_RESPONSES).find(name => way.endsWith(`/${name}`));
  return ending === undefined ? null : (HOSTILE_RESPONSES[ending] ?? null);
}

interface CreditHolder {
  readonly organizationId: string;
  readonly creditId: string;
}

function install({ sandbox, registry, app }: Program): CreditHolder {
  const { id: organizationId } = createOrganization(sandbox);
  const creditId = issueCredit(sandbox, organizationId);
  registry.installations.install(app.id, organizationId);
  return { organizationId, creditId };
}

/** Retires a tonne, which a webhook announces. */
function retire({ sandbox, app }: Program, holder: CreditHolder): void {
  retireFromWarehouse(sandbox, { ...holder, appId: app.id }, 1);
}

function peakMegabytes(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

test.skipIf(process.platform !== 'linux')(
  'T47 responses of 16 MB of nesting, small objects or rows neither exhaust the worker nor stop other organizations',
  async () => {
    const program = await startProgram({ receiveOnly: true });
    const attacked = [install(program), install(program), install(program)];
    const other = install(program);
    let isHostile = false;
    const url = await startProxy(program.sandbox.url, path =>
      isHostile && attacked.some(({ organizationId }) => path.includes(organizationId))
        ? createHostileResponse(path)
        : null,
    );
    const { child } = startWorkProcess({ url, app: program.app, dataDir: program.folder });
    const countResources = async ({ organizationId }: CreditHolder, state: string) =>
      (
        await program.rows(
          'SELECT 1 FROM freshness WHERE organization_id = ? AND coalesce(reason, state) = ?',
          organizationId,
          state,
        )
      ).length;
    for (const holder of [...attacked, other])
      await expect.poll(() => countResources(holder, 'fresh')).toBe(10);
    const readDocuments = ({ organizationId }: CreditHolder) =>
      Promise.all(
        TABLES.map(table =>
          program.rows(`SELECT document FROM ${table}_history WHERE organization_id = ?`, organizationId),
        ),
      );
    const before = await Promise.all(attacked.map(readDocuments));
    isHostile = true;
    for (const holder of attacked) retire(program, holder);
    for (const holder of attacked) await expect.poll(() => countResources(holder, 'read_failed')).toBe(7);
    retire(program, other);
    await program.registry.deliveries.waitUntilSettled();
    const retired = async () =>
      (await program.rows('SELECT 1 FROM retirements WHERE organization_id = ?', other.organizationId))
        .length;
    await expect.poll(retired).toBe(1);
    const attempts = program.registry.deliveries.list(1000).flatMap(delivery => delivery.attempts);
    expect(new Set(attempts.map(({ status }) => status))).toEqual(new Set([202]));
    expect(await Promise.all(attacked.map(readDocuments))).toEqual(before);
    expect(child.exitCode).toBeNull();
    expect(await program.inbox.countJobs()).toMatchObject({ failed: 0 });
    expect(peakMegabytes(child.pid)).toBeLessThan(MAX_WORKER_MB);
  },
);
