import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';
import { FOLDED_WITHIN_MS } from '../../../inbox/delivery.js';
import { createMemory } from '../../../inbox/memory.js';
import { formatInstant } from '../../../resources/columns.js';

/** What a duplicate shares a row with. */
interface StoredRow {
  readonly id: number;
  /** The job that it waits for; null where it was ignored. */
  readonly jobId: number | null;
  readonly secretIndex: number;
  /** When the first of the row came, in epoch ms. */
  readonly since: number;
}

interface Duplicate {
  readonly sha256: string;
  readonly secretIndex: number;
  readonly receivedAt: number;
  readonly contradictedFields: string | null;
}

export function createDuplicates(db: Sqlite) {
  const memory = createMemory<StoredRow>();
  const add = statement<{ id: number; sha256: string; contradictedFields: string | null; at: string }>(
    db,
    ADD_TO_ROW,
  );

  return {
    /**
     * Count a duplicate in the row of the same text that waits for the same job, and answer that row's id;
     * null where there is none. To be run inside `write`.
     */
    fold: (
      { sha256, secretIndex, receivedAt, contradictedFields }: Duplicate,
      jobId: number | null,
    ): number | null => {
      const row = memory.get(sha256);
      if (row === undefined || row.jobId !== jobId || row.secretIndex !== secretIndex) return null;
      const age = receivedAt - row.since;
      if (age < 0 || age >= FOLDED_WITHIN_MS) return null;
      return add.run({ id: row.id, sha256, contradictedFields, at: formatInstant(receivedAt) }) === 1
        ? row.id
        : null;
    },
    remember: memory.set,
    committed: memory.committed,
    rolledBack: memory.rolledBack,
  };
}

/** A read that has begun since the row's oldest unread post may have answered it, but not this one. */
const ADD_TO_ROW = `
  UPDATE deliveries SET
    duplicates = duplicates + 1,
    contradicted_fields = coalesce(contradicted_fields, @contradictedFields),
    last_duplicate_at = max(coalesce(last_duplicate_at, received_at), @at),
    unread_duplicate_at = iif(
      (SELECT max(started_at) FROM jobs WHERE jobs.installation_id = deliveries.installation_id AND part = 'data')
        > coalesce(unread_duplicate_at, received_at),
      @at, unread_duplicate_at)
  WHERE id = @id AND signed_text_sha256 = @sha256`;
