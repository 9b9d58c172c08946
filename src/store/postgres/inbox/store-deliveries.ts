import {
  toStoreFailure,
  FOLD_WINDOW_MS,
  type NewDelivery,
  type StoreResult,
} from '../../../inbox/delivery.js';
import { sql } from 'kysely';
import { INSTALLATION_JOB, createInstallationJob } from '../../../inbox/job.js';
import {
  createTransactionalCache,
  type TransactionalCache,
  MAX_CACHED_KEYS,
} from '../../../inbox/transactional-cache.js';
import { prepared } from '../../sql/prepared.js';
import { createAutocommitBatch } from '../database.js';
import { getSqlState } from '../translate-errors.js';
import type { RunQuery } from '../open-postgres.js';
import type { InboxClock } from '../pool-settings.js';
import { createStoreCall, type StoredDeliveryRow } from './inbox-functions.js';

/** The ids of a stored signed text and of the latest row of its deliveries. Either may be deleted by now. */
interface CachedText {
  readonly textId: number;
  readonly rowId: number | null;
}

interface IndexedDelivery extends NewDelivery {
  /** The index among the deliveries that are stored together. */
  readonly index: number;
}

/** Deliveries with the same signed text that are counted in one row. */
type DeliveryGroup = [IndexedDelivery, ...IndexedDelivery[]];

/** The index of a delivery among those that are stored together, and its result. */
type IndexedResult = readonly [number, StoreResult];

/** Stores deliveries and returns one result for each. */
export type StoreDeliveries = (deliveries: readonly NewDelivery[]) => Promise<StoreResult[]>;

const TRIGGER = 'delivery';

/** SQLSTATEs of errors that the content of a row causes: data errors, constraints and limits. */
const ROW_ERRORS = /^(22|23|54)/;

const LIST_LATEST_TEXTS = prepared(({ db }) =>
  db
    .selectFrom('inbox.signed_texts')
    .select(['sha256', 'id'])
    .orderBy('id', 'desc')
    .limit(sql.lit(MAX_CACHED_KEYS)),
);

/**
 * Creates the function that stores webhook deliveries, usually in one transaction. If the content of a delivery causes an SQL error, stores
 * every delivery in its own transaction, so that the error affects no other delivery. The function may be called concurrently.
 */
export function createStoreDeliveries(query: RunQuery, clock: InboxClock): StoreDeliveries {
  const callStore = createStoreCall(query, clock);
  let cache: TransactionalCache<CachedText> | null = null;

  /** Stores groups of deliveries in one transaction, by one call of the SQL function `inbox.store`. */
  async function callStoreFunction(groups: readonly DeliveryGroup[]): Promise<IndexedResult[]> {
    cache ??= createTransactionalCache(await readLatestTexts(query));
    const currentCache = cache;
    const rows = groups.map((group, index) => toDeliveryRow(group, index, currentCache));
    const values = {
      kind: INSTALLATION_JOB,
      trigger: TRIGGER,
      row_ids: rows.flatMap(({ row_id: id }) => id ?? []),
      text_ids: rows.flatMap(({ stored_text_id: id }) => id ?? []),
    };
    return toIndexedResults(groups, await callStore(values, rows), currentCache);
  }

  /**
   * Stores groups of deliveries in one transaction. The deliveries of a group are duplicates of each other. If the content of one
   * delivery causes an SQL error, stores every delivery in its own transaction.
   */
  async function storeGroups(groups: readonly DeliveryGroup[]): Promise<IndexedResult[]> {
    try {
      return await callStoreFunction(groups);
    } catch (error) {
      const failure = toStoreFailure(error);
      const deliveries = groups.flat();
      if (deliveries.length === 1 || !ROW_ERRORS.test(getSqlState(error))) {
        return deliveries.map(({ index }) => [index, { failure }]);
      }
      const results: IndexedResult[] = [];
      for (const delivery of deliveries) results.push(...(await storeGroups([[delivery]])));
      return results;
    }
  }

  return async deliveries => {
    const results: StoreResult[] = [];
    for (const groups of splitIntoTransactions(deliveries)) {
      for (const [index, result] of await storeGroups(groups)) results[index] = result;
    }
    return results;
  };
}

/** Reads the latest signed texts from the database, to fill the cache. The keys are their SHA-256, oldest first. */
async function readLatestTexts(query: RunQuery): Promise<Map<string, CachedText>> {
  const [latest] = await createAutocommitBatch(query)(LIST_LATEST_TEXTS());
  return new Map(latest.toReversed().map(({ sha256, id }) => [sha256, { textId: id, rowId: null }]));
}

/**
 * Groups duplicate deliveries, and distributes the groups to successive transactions. A transaction can store a signed text
 * only once.
 */
function splitIntoTransactions(deliveries: readonly NewDelivery[]): DeliveryGroup[][] {
  const transactions: Map<string, DeliveryGroup>[] = [];
  deliveries.forEach((delivery, index) => {
    const { sha256 } = delivery;
    const latest = transactions.findLastIndex(transaction => transaction.has(sha256));
    const group = transactions[latest]?.get(sha256);
    if (group !== undefined && canShareRow(group[0], delivery)) {
      group.push({ ...delivery, index });
      return;
    }
    const transaction = (transactions[latest + 1] ??= new Map<string, DeliveryGroup>());
    transaction.set(sha256, [{ ...delivery, index }]);
  });
  return transactions.map(transaction => [...transaction.values()]);
}

/**
 * Returns whether a duplicate can be counted in the row of the first delivery; otherwise it gets its own row. Both must be verified with
 * the same secret, and the duplicate must have arrived less than `FOLD_WINDOW_MS` after the first delivery.
 */
function canShareRow(first: NewDelivery, { secretIndex, receivedMsAgo }: NewDelivery): boolean {
  const ageMs = first.receivedMsAgo - receivedMsAgo;
  return secretIndex === first.secretIndex && ageMs >= 0 && ageMs < FOLD_WINDOW_MS;
}

/**
 * Returns the input row of the SQL function `inbox.store` for a group of duplicate deliveries. `cache` supplies the ids of a text
 * and a row that are already stored.
 */
function toDeliveryRow(group: DeliveryGroup, index: number, cache: TransactionalCache<CachedText>) {
  const [first] = group;
  const { textId = null, rowId = null } = cache.get(first.sha256) ?? {};
  return {
    n: index,
    stored_text_id: textId,
    row_id: rowId,
    ms_ago: group.map(({ receivedMsAgo }) => receivedMsAgo),
    job_key: getDedupeKey(first),
    event: first.event,
    installation_id: first.installationId,
    organization_id: first.organizationId,
    sha256: first.sha256,
    signed_data: first.signedData,
    contradicted_fields:
      group.find(({ contradictedFields }) => contradictedFields !== null)?.contradictedFields ?? null,
    verdict: first.verdict,
    reason: first.reason,
    secret_index: first.secretIndex,
  };
}

/** Returns the dedupe key of the job that a webhook delivery requests; null if it requests no job. */
function getDedupeKey({ verdict, installationId, organizationId }: NewDelivery): string | null {
  if (verdict !== 'accepted' || installationId === null) return null;
  return createInstallationJob(installationId, organizationId, TRIGGER).dedupeKey;
}

/**
 * Converts the rows that the SQL function `inbox.store` returned, one for each group, to one result for each delivery. Adds the ids
 * of the rows to `cache`.
 */
function toIndexedResults(
  groups: readonly DeliveryGroup[],
  stored: readonly StoredDeliveryRow[],
  cache: TransactionalCache<CachedText>,
): IndexedResult[] {
  const results = groups.flatMap((group, groupIndex): IndexedResult[] => {
    const row = stored[groupIndex];
    if (row === undefined) throw new Error('expected a row for each text, got none');
    const { rowId: id, textId, jobId, stood: isExistingRow } = row;
    cache.set(group[0].sha256, { textId, rowId: id });
    return group.map(({ index }, position) => [
      index,
      { id, jobId, isDuplicate: isExistingRow || position > 0 },
    ]);
  });
  cache.commit();
  return results;
}
