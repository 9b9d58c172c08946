import { DUPLICATE_WINDOW_MS, FOLD_WINDOW_MS, type NewDelivery } from '../../../inbox/delivery.js';
import { createTransactionalCache, MAX_CACHED_KEYS } from '../../../inbox/transactional-cache.js';
import { formatInstant } from '../../../resources/sql-values.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';

export interface Received extends NewDelivery {
  /** Epoch ms. */
  readonly receivedAt: number;
}

/** Where the latest post of a text stands. */
interface Known {
  readonly textId: number;
  /** Epoch ms. */
  readonly seenAt: number;
  /** Null where a process before this one has stored it. */
  readonly row: StoredRow | null;
}

interface StoredRow {
  readonly id: number;
  /** The job that it waits for; null where it was ignored. */
  readonly jobId: number | null;
  readonly secretIndex: number;
  /** When the first of the row came, in epoch ms. */
  readonly since: number;
}

/** The latest texts by their SHA-256, in memory: an index in the database would cost a page for each delivery. */
export function createTexts(db: Sqlite) {
  const memory = createTransactionalCache(readLatest(db));
  const touch = statement<{ id: number; sha256: string; receivedAt: string }>(
    db,
    'UPDATE signed_texts SET last_received_at = @receivedAt WHERE id = @id AND sha256 = @sha256',
  );
  const insert = statement<{ sha256: string; receivedAt: string; signedData: string }, { id: number }>(
    db,
    `INSERT INTO signed_texts (sha256, last_received_at, signed_data)
    VALUES (@sha256, @receivedAt, @signedData) RETURNING id`,
  );
  const fold = statement<{ id: number; sha256: string; contradictedFields: string | null; at: string }>(
    db,
    FOLD,
  );

  return {
    /** Whether the same text came within the hour before this one. */
    isDuplicate: ({ sha256, receivedAt }: Received): boolean => {
      const seenAt = memory.get(sha256)?.seenAt;
      return seenAt !== undefined && Math.abs(receivedAt - seenAt) < DUPLICATE_WINDOW_MS;
    },
    /**
     * Count a duplicate in the row of the same text that waits for the same job, and answer that row's id;
     * null where there is none. To be run inside `write`.
     */
    fold: (delivery: Received, jobId: number | null): number | null => {
      const { sha256, secretIndex, receivedAt, contradictedFields } = delivery;
      const known = memory.get(sha256);
      const row = known?.row ?? null;
      if (known === undefined || row === null) return null;
      const age = receivedAt - row.since;
      if (row.jobId !== jobId || row.secretIndex !== secretIndex || age < 0 || age >= FOLD_WINDOW_MS)
        return null;
      if (fold.run({ id: row.id, sha256, contradictedFields, at: formatInstant(receivedAt) }) === 0)
        return null;
      memory.set(sha256, { textId: known.textId, seenAt: receivedAt, row });
      return row.id;
    },
    /** Store the text unless it came before, and answer its id. To be run inside `write`. */
    keep: ({ sha256, receivedAt, signedData }: Received): number => {
      const id = memory.get(sha256)?.textId;
      const at = { sha256, receivedAt: formatInstant(receivedAt) };
      if (id !== undefined && touch.run({ id, ...at }) === 1) return id;
      const row = insert.get({ ...at, signedData });
      if (row === undefined) throw new Error('expected the id of a stored text, got none');
      return row.id;
    },
    /** In which row it stands. */
    remember: (
      { sha256, receivedAt, secretIndex }: Received,
      textId: number,
      id: number,
      jobId: number | null,
    ) =>
      memory.set(sha256, {
        textId,
        seenAt: receivedAt,
        row: { id, jobId, secretIndex, since: receivedAt },
      }),
    committed: memory.commit,
    rolledBack: memory.rollBack,
  };
}

function readLatest(db: Sqlite): Map<string, Known> {
  const latest = db
    .prepare<[], { sha256: string; id: number; at: string }>(
      `SELECT sha256, id, last_received_at AS at FROM signed_texts ORDER BY id DESC LIMIT ${MAX_CACHED_KEYS}`,
    )
    .all()
    .toReversed();
  return new Map(
    latest.map(({ sha256, id, at }) => [sha256, { textId: id, seenAt: Date.parse(at), row: null }]),
  );
}

/** A read that has begun since the row's oldest unread post may have answered it, but not this one. */
const FOLD = `
  UPDATE deliveries SET
    duplicates = duplicates + 1,
    contradicted_fields = coalesce(contradicted_fields, @contradictedFields),
    last_duplicate_at = max(coalesce(last_duplicate_at, received_at), @at),
    unread_duplicate_at = iif(
      (SELECT max(started_at) FROM jobs WHERE jobs.installation_id = deliveries.installation_id AND part = 'data')
        > coalesce(unread_duplicate_at, received_at),
      @at, unread_duplicate_at)
  WHERE id = @id AND signed_text_sha256 = @sha256`;
