import type { EvidencePort } from '../../evidence/port.js';
import { type Bound, POSTGRES } from '../dialect.js';
import { type Ask, createEvidencePort } from '../evidence.js';
import type { PoolOptions } from './driver.js';
import { demandSchema } from './migrate.js';
import { openMigrated } from './prepare.js';

export async function openEvidence(pool: PoolOptions): Promise<EvidencePort> {
  const postgres = await openMigrated(pool);
  try {
    await demandSchema(postgres, 'evidence');
  } catch (error) {
    await postgres.close();
    throw error;
  }
  const { query, close } = postgres;
  const ask: Ask = (sql, given) => query(sql, given);
  const insert = async ({ text, values }: Bound) => void (await query(text, [...values]));
  return createEvidencePort({ dialect: POSTGRES, mirror: ask, log: ask, insert, close });
}
