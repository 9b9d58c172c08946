import type { EvidencePort } from '../../evidence/port.js';
import { POSTGRES } from '../dialect.js';
import { type RunSql, createEvidencePort, type EvidenceStore } from '../evidence.js';
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
  const { query, transact, close } = postgres;
  const ask: RunSql = (sql, given) => query(sql, given);
  const insert: EvidenceStore['insert'] = async ({ text, values }, then) => {
    await transact(async send => {
      await send(text, [...values]);
      if (then !== undefined) await send(then.sql, then.given);
    });
  };
  return createEvidencePort({ dialect: POSTGRES, mirror: ask, log: ask, insert, close });
}
