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
import { createStoreCall, type StoredRow } from './inbox-functions.js';

/** The ids of the latest rows of a signed text. They may be deleted by now, so the store checks them again. */
interface CachedRow {
  readonly textId: number;
  readonly rowId: number | null;
}

interface IndexedDelivery extends NewDelivery {
  /** The index among the deliveries that are stored together. */
  readonly index: number;
}

/** Deliveries that are stored together and share a text, and with it a row. */
type Bundle = [IndexedDelivery, ...IndexedDelivery[]];

/** The result of a delivery, by its index. */
type IndexedResult = readonly [number, StoreResult];

export type Store = (deliveries: readonly NewDelivery[]) => Promise<StoreResult[]>;

const TRIGGER = 'delivery';

/** SQLSTATEs that the content of a row causes: data, constraints, limits. */
const ROW_ERRORS = /^(22|23|54)/;

const LIST_LATEST_TEXTS = prepared(({ db }) =>
  db
    .selectFrom('inbox.signed_texts')
    .select(['sha256', 'id'])
    .orderBy('id', 'desc')
    .limit(sql.lit(MAX_CACHED_KEYS)),
);

/**
 * Stores deliveries in one transaction. If the content of one causes an error, each is stored alone, so that a bad row does not
 * affect the others. Several calls may run at once.
 */
export function createStore(query: RunQuery, clock: InboxClock): Store {
  const callStore = createStoreCall(query, clock);
  let cache: TransactionalCache<CachedRow> | null = null;

  async function storeTogether(bundles: readonly Bundle[]): Promise<IndexedResult[]> {
    cache ??= createTransactionalCache(await listLatestRows(query));
    const memory = cache;
    const rows = bundles.map((bundle, n) => toRow(bundle, n, memory));
    const values = {
      kind: INSTALLATION_JOB,
      trigger: TRIGGER,
      row_ids: rows.flatMap(({ row_id: id }) => id ?? []),
      text_ids: rows.flatMap(({ stored_text_id: id }) => id ?? []),
    };
    return toResults(bundles, await callStore(values, rows), memory);
  }

  async function storeWave(bundles: readonly Bundle[]): Promise<IndexedResult[]> {
    try {
      return await storeTogether(bundles);
    } catch (error) {
      const failure = toStoreFailure(error);
      const deliveries = bundles.flat();
      if (deliveries.length === 1 || !ROW_ERRORS.test(getSqlState(error))) {
        return deliveries.map(({ index }) => [index, { failure }]);
      }
      const results: IndexedResult[] = [];
      for (const delivery of deliveries) results.push(...(await storeWave([[delivery]])));
      return results;
    }
  }

  return async deliveries => {
    const results: StoreResult[] = [];
    for (const bundles of splitIntoWaves(deliveries)) {
      for (const [index, result] of await storeWave(bundles)) results[index] = result;
    }
    return results;
  };
}

/** Lists the latest signed texts, oldest first. */
async function listLatestRows(query: RunQuery): Promise<Map<string, CachedRow>> {
  const [latest] = await createAutocommitBatch(query)(LIST_LATEST_TEXTS());
  return new Map(latest.toReversed().map(({ sha256, id }) => [sha256, { textId: id, rowId: null }]));
}

/** Splits deliveries into waves that are stored one after the other. No two bundles of a wave have the same text. */
function splitIntoWaves(deliveries: readonly NewDelivery[]): Bundle[][] {
  const waves: Map<string, Bundle>[] = [];
  deliveries.forEach((delivery, index) => {
    const { sha256 } = delivery;
    const latest = waves.findLastIndex(wave => wave.has(sha256));
    const bundle = waves[latest]?.get(sha256);
    if (bundle !== undefined && sharesRow(bundle[0], delivery)) {
      bundle.push({ ...delivery, index });
      return;
    }
    const wave = (waves[latest + 1] ??= new Map<string, Bundle>());
    wave.set(sha256, [{ ...delivery, index }]);
  });
  return waves.map(wave => [...wave.values()]);
}

function sharesRow(first: NewDelivery, { secretIndex, receivedMsAgo }: NewDelivery): boolean {
  const ageMs = first.receivedMsAgo - receivedMsAgo;
  return secretIndex === first.secretIndex && ageMs >= 0 && ageMs < FOLD_WINDOW_MS;
}

function toRow(bundle: Bundle, n: number, cache: TransactionalCache<CachedRow>) {
  const [first] = bundle;
  const { textId = null, rowId = null } = cache.get(first.sha256) ?? {};
  return {
    n,
    stored_text_id: textId,
    row_id: rowId,
    ms_ago: bundle.map(({ receivedMsAgo }) => receivedMsAgo),
    job_key: getJobKey(first),
    event: first.event,
    installation_id: first.installationId,
    organization_id: first.organizationId,
    sha256: first.sha256,
    signed_data: first.signedData,
    contradicted_fields:
      bundle.find(({ contradictedFields }) => contradictedFields !== null)?.contradictedFields ?? null,
    verdict: first.verdict,
    reason: first.reason,
    secret_index: first.secretIndex,
  };
}

/** Returns the dedupe key of the job that a delivery requests; null if it requests none. */
function getJobKey({ verdict, installationId, organizationId }: NewDelivery): string | null {
  if (verdict !== 'accepted' || installationId === null) return null;
  return createInstallationJob(installationId, organizationId, TRIGGER).dedupeKey;
}

function toResults(
  bundles: readonly Bundle[],
  stored: readonly StoredRow[],
  cache: TransactionalCache<CachedRow>,
): IndexedResult[] {
  const results = bundles.flatMap((bundle, n): IndexedResult[] => {
    const row = stored[n];
    if (row === undefined) throw new Error('expected a row for each text, got none');
    const { rowId: id, textId, jobId, stood } = row;
    cache.set(bundle[0].sha256, { textId, rowId: id });
    return bundle.map(({ index }, position) => [index, { id, jobId, isDuplicate: stood || position > 0 }]);
  });
  cache.commit();
  return results;
}
