import { expect, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { type InstalledProgram, startInstalled } from '../support/program.js';
import { startProxy } from '../support/proxy.js';
import { issueCredit } from '../support/sandbox.js';

interface RegistryChange {
  readonly name: string;
  /** The call that is delayed by ten seconds; the change happens during the delay. */
  readonly path: RegExp;
  readonly makeChange: (installed: InstalledProgram) => void;
  /** Makes the mirror read; a scheduled read if undefined. */
  readonly triggerRead?: (installed: InstalledProgram) => Promise<void>;
  readonly datesSql: string;
}

const REGISTRY_CHANGES: readonly RegistryChange[] = [
  {
    name: 'a retirement',
    path: /\/retirements\?/,
    makeChange: ({ retire }) => retire(2),
    datesSql: 'SELECT valid_from AS at FROM retirements',
  },
  {
    name: 'a credit that is available',
    path: /\/warehouse\/inventory$/,
    makeChange: ({ program, organizationId }) => issueCredit(program.sandbox, organizationId),
    datesSql: 'SELECT max(valid_from) AS at FROM warehouse_credits',
  },
  {
    name: 'a credit withdrawn',
    path: /\/warehouse\/inventory$/,
    makeChange: ({ program, organizationId, creditId }) => {
      issueCredit(program.sandbox, organizationId);
      program.registry.credits.withdraw(organizationId, { creditId, amount: 100 });
    },
    datesSql: "SELECT valid_to AS at FROM past WHERE resource = 'warehouse'",
  },
  {
    name: 'a project renamed',
    path: /\/projects\/[^/]+$/,
    makeChange: ({ program }) => {
      for (const { id } of program.registry.projects.listAll())
        program.registry.projects.change(id, { fullName: 'Renamed' });
    },
    triggerRead: ({ program }) => program.reconcile(24 * 3_600_000),
    datesSql: "SELECT valid_from AS at FROM projects WHERE full_name = 'Renamed'",
  },
  {
    name: 'an installation gone',
    path: /\/app\/installations\/[^/]+$/,
    makeChange: ({ program, installationId }) => program.registry.installations.uninstall(installationId),
    triggerRead: async ({ program, installationId, organizationId }) => {
      await program.inbox.enqueue([createInstallationJob(installationId, organizationId, 'person')]);
      await program.rest();
    },
    datesSql: "SELECT valid_from AS at FROM installations WHERE state = 'uninstalled'",
  },
  {
    name: 'a certificate',
    path: /\/pdf$/,
    makeChange: () => {},
    triggerRead: ({ program, retire }) => {
      retire(2);
      return program.rest();
    },
    datesSql: "SELECT valid_from AS at FROM certificates WHERE state = 'stored'",
  },
];

test.each(REGISTRY_CHANGES)(
  'a change that happens while the registry responds is not dated before it happened: $name',
  async ({ path, makeChange: happen, triggerRead: ask, datesSql: dates }) => {
    const installed = await startInstalled({ receiveOnly: true });
    const { program } = installed;
    let isWatched = false;
    let happenedAt = '';
    const baseUrl = await startProxy(program.sandbox.url, requestPath => {
      if (!isWatched || !path.test(requestPath)) return null;
      isWatched = false;
      program.time.move(10_000);
      happen(installed);
      happenedAt = new Date(program.time.now()).toISOString();
      return null;
    });
    await program.startWorker({ baseUrl });
    await program.rest();
    isWatched = true;
    await (ask === undefined ? program.reconcile() : ask(installed));
    expect(happenedAt).not.toBe('');
    const instants = (await program.rows(dates)).map(row => String(Object(row)['at']));
    expect(instants).not.toEqual([]);
    for (const at of instants) expect(at >= happenedAt, `${at}, happened ${happenedAt}`).toBe(true);
  },
);
