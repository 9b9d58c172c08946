import { sql } from 'kysely';
import { DUPLICATE_WINDOW_MS, FOLD_WINDOW_MS, type NewDelivery } from '../../../inbox/delivery.js';
import { createTransactionalCache, MAX_CACHED_KEYS } from '../../../inbox/transactional-cache.js';
import { formatInstant } from '../../../resources/sql-values.js';
import type { Sqlite } from '../open-database.js';
import { tableRef, sqlStatement } from '../../sql/columns.js';
import { type Params, prepared } from '../../sql/prepared.js';
import { prepareOn } from '../database.js';

/** A delivery with the time at which it arrived. */
export interface ReceivedDelivery extends NewDelivery {
  /** Epoch ms. */
  readonly receivedAt: number;
}

/** A signed text that was stored, and its latest delivery. */
interface CachedSignedText {
  readonly textId: number;
  /** Epoch ms. */
  readonly lastReceivedAt: number;
  /** The row of its latest delivery; null if an earlier process stored it. */
  readonly row: CachedDelivery | null;
}

/** The row of a delivery, in which later deliveries of the same text can be counted. */
interface CachedDelivery {
  readonly id: number;
  /** The job that follows the delivery; null if the delivery was ignored. */
  readonly jobId: number | null;
  readonly secretIndex: number;
  /** When the first delivery of the row arrived, in epoch milliseconds. */
  readonly firstReceivedAt: number;
}

type TouchedText = { readonly id: number; readonly sha256: string; readonly receivedAt: string };
const TOUCH_TEXT = prepared(({ db }, { id, sha256, receivedAt }: Params<TouchedText>) =>
  db
    .updateTable('inbox.signed_texts')
    .set({ last_received_at: receivedAt })
    .where('id', '=', id)
    .where('sha256', '=', sha256),
);
type NewText = { readonly sha256: string; readonly receivedAt: string; readonly signedData: string };
const INSERT_TEXT = prepared(({ db }, { sha256, receivedAt, signedData }: Params<NewText>) =>
  db
    .insertInto('inbox.signed_texts')
    .values({ sha256, last_received_at: receivedAt, signed_data: signedData })
    .returning('id'),
);
const LIST_LATEST = prepared(({ db }) =>
  db
    .selectFrom('inbox.signed_texts')
    .select(['sha256', 'id', 'last_received_at as at'])
    .orderBy('id', 'desc')
    .limit(sql.lit(MAX_CACHED_KEYS)),
);

const own = tableRef('inbox.deliveries');
const job = tableRef('inbox.jobs', 'job');
type Duplicate = {
  readonly id: number;
  readonly sha256: string;
  readonly contradictedFields: string | null;
  readonly at: string;
};
/**
 * Counts a duplicate in the row of an earlier delivery. If a job has read the registry since the oldest unread delivery of the
 * row, this duplicate becomes the oldest unread one.
 */
const COUNT_DUPLICATE = prepared(
  (_, { id, sha256, contradictedFields, at }: Params<Duplicate>) =>
    sqlStatement`UPDATE ${own()} SET
      ${own.duplicates} = ${own.duplicates} + 1,
      ${own.contradicted_fields} = coalesce(${own.contradicted_fields}, ${contradictedFields}),
      ${own.last_duplicate_at} = max(coalesce(${own.last_duplicate_at}, ${own.received_at}), ${at}),
      ${own.unread_duplicate_at} = iif(
        (SELECT max(${job.started_at}) FROM ${job()}
          WHERE ${job.installation_id} = deliveries.installation_id AND ${job.part} = 'data')
          > coalesce(${own.unread_duplicate_at}, ${own.received_at}),
        ${at}, ${own.unread_duplicate_at})
      WHERE ${own.id} = ${id} AND ${own.signed_text_sha256} = ${sha256}`,
);

/**
 * Creates a cache of the latest signed texts, by SHA-256. It replaces an index in the database, which would cost a page write for each
 * delivery.
 */
export function createSignedTextCache(db: Sqlite) {
  const cache = createTransactionalCache(readLatestTexts(db));
  const touch = prepareOn(db, TOUCH_TEXT);
  const insert = prepareOn(db, INSERT_TEXT);
  const count = prepareOn(db, COUNT_DUPLICATE);

  return {
    /** Returns whether the same text arrived within the previous hour. */
    isDuplicate: ({ sha256, receivedAt }: ReceivedDelivery): boolean => {
      const lastReceivedAt = cache.get(sha256)?.lastReceivedAt;
      return lastReceivedAt !== undefined && Math.abs(receivedAt - lastReceivedAt) < DUPLICATE_WINDOW_MS;
    },
    /**
     * Counts a duplicate in the row of the same text that belongs to the same job. Returns the id of the row; null if there is none.
     * Call it inside `runInTransaction`.
     */
    countDuplicate: (delivery: ReceivedDelivery, jobId: number | null): number | null => {
      const { sha256, secretIndex, receivedAt, contradictedFields } = delivery;
      const known = cache.get(sha256);
      const row = known?.row ?? null;
      if (known === undefined || row === null) return null;
      const age = receivedAt - row.firstReceivedAt;
      if (row.jobId !== jobId || row.secretIndex !== secretIndex || age < 0 || age >= FOLD_WINDOW_MS)
        return null;
      if (count.run({ id: row.id, sha256, contradictedFields, at: formatInstant(receivedAt) }) === 0)
        return null;
      cache.set(sha256, { textId: known.textId, lastReceivedAt: receivedAt, row });
      return row.id;
    },
    /** Stores a text unless it is already stored, and returns its id. Call it inside `runInTransaction`. */
    storeText: ({ sha256, receivedAt, signedData }: ReceivedDelivery): number => {
      const id = cache.get(sha256)?.textId;
      const at = { sha256, receivedAt: formatInstant(receivedAt) };
      if (id !== undefined && touch.run({ id, ...at }) === 1) return id;
      const row = insert.get({ ...at, signedData });
      if (row === undefined) throw new Error('expected the id of a stored text, got none');
      return row.id;
    },
    /** Caches the row of a delivery as the latest of its text. */
    cacheDelivery: (
      { sha256, receivedAt, secretIndex }: ReceivedDelivery,
      textId: number,
      id: number,
      jobId: number | null,
    ) =>
      cache.set(sha256, {
        textId,
        lastReceivedAt: receivedAt,
        row: { id, jobId, secretIndex, firstReceivedAt: receivedAt },
      }),
    commit: cache.commit,
    rollBack: cache.rollBack,
  };
}

/** Reads the most recently stored signed texts for the cache, keyed by their SHA-256. */
function readLatestTexts(db: Sqlite): Map<string, CachedSignedText> {
  const latest = prepareOn(db, LIST_LATEST).all({}).toReversed();
  return new Map(
    latest.map(({ sha256, id, at }) => [sha256, { textId: id, lastReceivedAt: Date.parse(at), row: null }]),
  );
}
