import type { EvidencePort } from '../../evidence/port.js';
import { createEvidencePort } from '../evidence-log/create-evidence-port.js';
import { createBatch, toDatabase } from './database.js';
import type { PoolOptions } from './driver.js';
import { assertMigrated } from './migrate.js';
import { openMigrated } from './await-schema.js';

/** Opens the evidence log on PostgreSQL. Throws unless the schemas inbox, mirror and evidence are migrated. */
export async function openEvidence(pool: PoolOptions): Promise<EvidencePort> {
  const postgres = await openMigrated(pool);
  try {
    await assertMigrated(postgres, 'evidence');
  } catch (error) {
    await postgres.close();
    throw error;
  }
  const { read } = toDatabase(postgres);
  return createEvidencePort({
    readMirror: read,
    runOnLog: read,
    commitToLog: createBatch(all => postgres.transact((_, send) => send(all))),
    close: postgres.close,
  });
}
