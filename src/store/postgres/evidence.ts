import type { EvidencePort } from '../../evidence/port.js';
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
  return createEvidencePort({
    ask: { mirror: ask, evidence: ask },
    schema: { mirror: 'mirror.', evidence: 'evidence.' },
    append: async leaves => {
      const column = <T>(of: (leaf: (typeof leaves)[number]) => T) => leaves.map(of);
      await query(
        'INSERT INTO evidence.leaves SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::bytea[])',
        [
          column(({ place }) => place),
          column(({ kind }) => kind),
          column(({ number }) => number),
          column(({ subject }) => subject),
          column(({ resource }) => resource),
          column(({ record }) => record),
          column(({ salt }) => salt),
          column(({ commitment }) => commitment),
        ],
      );
    },
    change: async (sql, given) => {
      await query(sql, given);
    },
    keep: async ({ size, peaks, note }) => {
      await query('INSERT INTO evidence.checkpoints VALUES ($1, $2, $3)', [size, peaks, note]);
    },
    close,
  });
}
