import type { EvidencePort } from '../../evidence/port.js';
import { createEvidencePort } from '../evidence-log/create-evidence-port.js';
import { createBatch, databaseIn } from './database.js';
import type { PoolOptions } from './driver.js';
import { demandSchema } from './migrate.js';
import { openMigrated } from './await-schema.js';

export async function openEvidence(pool: PoolOptions): Promise<EvidencePort> {
  const postgres = await openMigrated(pool);
  try {
    await demandSchema(postgres, 'evidence');
  } catch (error) {
    await postgres.close();
    throw error;
  }
  const { look } = databaseIn(postgres);
  return createEvidencePort({
    readMirror: look,
    runOnLog: look,
    commitToLog: createBatch(all => postgres.transact((_, send) => send(all))),
    close: postgres.close,
  });
}
