import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readStoreSettings } from '../../../src/app/config/read-settings.js';
import { createKeyFile } from '../../../src/evidence/key-file.js';
import { createInstallationJob } from '../../../src/inbox/job.js';
import type { InboxPort } from '../../../src/inbox/port.js';
import { openEngine } from '../../../src/store/open-engine.js';
import { toNewDelivery, acceptedDelivery, temporaryFolder } from '../inbox.js';
import { runCommand } from '../command.js';
import { type Program, startProgram } from '../program.js';
import { createOrganization, issueCredit } from '../sandbox.js';
import { openTablesIn } from '../tables.js';
import { startWorkProcess } from '../work-process.js';

export const STORED = "certificates WHERE state = 'stored'";

/** Starts a registry with one installation, and prepares a data folder that worker processes fill from it. */
export async function fillByWorkers() {
  const program = await startProgram({ receiveOnly: true });
  const { id: organizationId } = createOrganization(program.sandbox);
  const creditId = issueCredit(program.sandbox, organizationId, { amount: 1000 });
  const { id: installationId } = program.registry.installations.install(program.app.id, organizationId);
  const dataDir = join(temporaryFolder(), 'data');
  const keyFile = join(temporaryFolder(), 'evidence.key');
  createKeyFile(keyFile, 'mirror.example/log');
  const env = { DATA_DIR: dataDir, EVIDENCE_KEY_FILE: keyFile, REGISTRY_APP_ID: program.app.id };
  const engine = openEngine(readStoreSettings(env));
  await engine.migrate(Date.now());
  const tables = openTablesIn(dataDir);

  async function withInbox<T>(work: (inbox: InboxPort) => Promise<T>): Promise<T> {
    const inbox = await engine.openInbox(Date.now);
    try {
      return await work(inbox);
    } finally {
      await inbox.close();
    }
  }
  const isQuiet = () =>
    withInbox(async inbox => {
      const { running, oldestRunAt } = await inbox.countJobs();
      return running === 0 && (oldestRunAt === null || Date.parse(oldestRunAt) > Date.now() + 3000);
    });
  return {
    program,
    engine,
    dataDir,
    keyFile,
    tables,
    isQuiet,
    retire: (count: number) => retireMany(program, organizationId, creditId, count),
    /** Requests a read of everything, as a person would. */
    requestReads: () => {
      const installations = program.registry.store.tables.installations.list();
      const jobs = installations.map(each => createInstallationJob(each.id, each.organizationId, 'person'));
      return withInbox(inbox => inbox.enqueue(jobs));
    },
    storeDelivery: () =>
      withInbox(inbox => {
        const at = Date.now();
        const signedData = randomBytes(24).toString('base64');
        const sha256 = createHash('sha256').update(signedData).digest('hex');
        const delivery = acceptedDelivery({ installationId, receivedAt: at, signedData, sha256 });
        return inbox.store([toNewDelivery(at, delivery)]);
      }),
    count: async (table: string) => Number(await tables.value(`SELECT count(*) FROM ${table}`)),
    startWorker: () =>
      startWorkProcess({
        url: program.sandbox.url,
        app: program.app,
        dataDir,
        env: { EVIDENCE_KEY_FILE: keyFile },
      }),
    run: (...argv: string[]) => runCommand(argv, { env }),
  };
}

export function retireMany(program: Program, organizationId: string, creditId: string, count: number): void {
  const { reservations } = program.registry;
  for (let retirement = 0; retirement < count; retirement++) {
    const { id } = reservations.reserve(organizationId, program.app.id, { creditId, amount: 0.1 });
    const body = { retirementData: { reason: 'for good', beneficiaryName: 'Ada' } };
    reservations.finish(organizationId, program.app.id, { id, action: 'retire', body });
  }
}
