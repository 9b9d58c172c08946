import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Program, startProgram } from '../support/program.js';
import { startProxy } from '../support/proxy.js';
import { createOrganization, issueCredit, retireFrom } from '../support/sandbox.js';
import { startWorkProcess } from '../support/work-process.js';

const MB = 1024 * 1024;
/** What a worker takes at most where it is answered nothing but such things; 195 MB were measured. */
const MOST_MB = 300;

const deep = `${'['.repeat(8 * MB)}${']'.repeat(8 * MB)}`;
const small = (bytes: number) => `[${'{},'.repeat(bytes / 3)}{}]`;
const list = (name: string, row: string) => `{"${name}":[${row}],"pagination":{"total":1,"nextPage":null}}`;

/** 16 MB each; what is smaller is refused for its row, once all of it was made objects. */
const ANSWERS: Readonly<Record<string, string>> = {
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

function hostileTo(path: string): string | null {
  const [way = ''] = path.split('?');
  const ending = Object.keys(ANSWERS).find(name => way.endsWith(`/${name}`));
  return ending === undefined ? null : (ANSWERS[ending] ?? null);
}

interface Holder {
  readonly organizationId: string;
  readonly creditId: string;
}

function install({ sandbox, registry, app }: Program): Holder {
  const { id: organizationId } = createOrganization(sandbox);
  const creditId = issueCredit(sandbox, organizationId);
  registry.installations.install(app.id, organizationId);
  return { organizationId, creditId };
}

/** Announced by a webhook. */
function retire({ sandbox, app }: Program, holder: Holder): void {
  retireFrom(sandbox, { ...holder, appId: app.id }, 1);
}

function peakMegabytes(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

test.skipIf(process.platform !== 'linux')(
  'T47 a worker that is answered 16 MB of depth, of small objects or of rows stays small, and the receiver and others go on',
  async () => {
    const program = await startProgram({ receiveOnly: true });
    const attacked = [install(program), install(program), install(program)];
    const other = install(program);
    let isHostile = false;
    const url = await startProxy(program.sandbox.url, path =>
      isHostile && attacked.some(({ organizationId }) => path.includes(organizationId))
        ? hostileTo(path)
        : null,
    );
    const { child } = startWorkProcess({ url, app: program.app, dataDir: program.folder });
    const reads = async ({ organizationId }: Holder, state: string) =>
      (
        await program.rows(
          'SELECT 1 FROM freshness WHERE organization_id = ? AND coalesce(reason, state) = ?',
          organizationId,
          state,
        )
      ).length;
    for (const holder of [...attacked, other]) await expect.poll(() => reads(holder, 'fresh')).toBe(10);
    const rowsOf = ({ organizationId }: Holder) =>
      Promise.all(
        TABLES.map(table =>
          program.rows(`SELECT document FROM ${table}_history WHERE organization_id = ?`, organizationId),
        ),
      );
    const before = await Promise.all(attacked.map(rowsOf));
    isHostile = true;
    for (const holder of attacked) retire(program, holder);
    for (const holder of attacked) await expect.poll(() => reads(holder, 'read_failed')).toBe(7);
    retire(program, other);
    await program.registry.deliveries.waitUntilSettled();
    const retired = async () =>
      (await program.rows('SELECT 1 FROM retirements WHERE organization_id = ?', other.organizationId))
        .length;
    await expect.poll(retired).toBe(1);
    const attempts = program.registry.deliveries.list(1000).flatMap(delivery => delivery.attempts);
    expect(new Set(attempts.map(({ status }) => status))).toEqual(new Set([202]));
    expect(await Promise.all(attacked.map(rowsOf))).toEqual(before);
    expect(child.exitCode).toBeNull();
    expect(await program.inbox.countJobs()).toMatchObject({ failed: 0 });
    expect(peakMegabytes(child.pid)).toBeLessThan(MOST_MB);
  },
);
