import { expect, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { type InstalledProgram, startInstalled } from '../support/program.js';
import { startProxy } from '../support/proxy.js';
import { issueCredit } from '../support/sandbox.js';

interface Happening {
  readonly name: string;
  /** The question that is answered ten seconds later, when it has happened. */
  readonly path: RegExp;
  readonly happen: (installed: InstalledProgram) => void;
  /** What makes the mirror ask; a scheduled read if nothing does. */
  readonly ask?: (installed: InstalledProgram) => Promise<void>;
  readonly dates: string;
}

const HAPPENINGS: readonly Happening[] = [
  {
    name: 'a retirement',
    path: /\/retirements\?/,
    happen: ({ retire }) => retire(2),
    dates: 'SELECT valid_from AS at FROM retirements',
  },
  {
    name: 'a credit that is available',
    path: /\/warehouse\/inventory$/,
    happen: ({ program, organizationId }) => issueCredit(program.sandbox, organizationId),
    dates: 'SELECT max(valid_from) AS at FROM warehouse_credits',
  },
  {
    name: 'a credit withdrawn',
    path: /\/warehouse\/inventory$/,
    happen: ({ program, organizationId, creditId }) => {
      issueCredit(program.sandbox, organizationId);
      program.registry.credits.withdraw(organizationId, { creditId, amount: 100 });
    },
    dates: "SELECT valid_to AS at FROM past WHERE resource = 'warehouse'",
  },
  {
    name: 'a project renamed',
    path: /\/projects\/[^/]+$/,
    happen: ({ program }) => {
      for (const { id } of program.registry.projects.listAll())
        program.registry.projects.change(id, { fullName: 'Renamed' });
    },
    ask: ({ program }) => program.reconcile(24 * 3_600_000),
    dates: "SELECT valid_from AS at FROM projects WHERE full_name = 'Renamed'",
  },
  {
    name: 'an installation gone',
    path: /\/app\/installations\/[^/]+$/,
    happen: ({ program, installationId }) => program.registry.installations.uninstall(installationId),
    ask: async ({ program, installationId, organizationId }) => {
      await program.inbox.enqueue([createInstallationJob(installationId, organizationId, 'person')]);
      await program.rest();
    },
    dates: "SELECT valid_from AS at FROM installations WHERE state = 'uninstalled'",
  },
  {
    name: 'a certificate',
    path: /\/pdf$/,
    happen: () => {},
    ask: ({ program, retire }) => {
      retire(2);
      return program.rest();
    },
    dates: "SELECT valid_from AS at FROM certificates WHERE state = 'stored'",
  },
];

test.each(HAPPENINGS)(
  'what happens while the registry makes its answer is not dated before it happened: $name',
  async ({ path, happen, ask, dates }) => {
    const installed = await startInstalled({ receiveOnly: true });
    const { program } = installed;
    let isWatched = false;
    let happenedAt = '';
    const baseUrl = await startProxy(program.sandbox.url, asked => {
      if (!isWatched || !path.test(asked)) return null;
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
    const given = (await program.rows(dates)).map(row => String(Object(row)['at']));
    expect(given).not.toEqual([]);
    for (const at of given) expect(at >= happenedAt, `${at}, happened ${happenedAt}`).toBe(true);
  },
);
