import {
  toStoreFailure,
  FOLD_WINDOW_MS,
  type NewDelivery,
  type StoreResult,
} from '../../../inbox/delivery.js';
import { INSTALLATION_JOB, createInstallationJob } from '../../../inbox/job.js';
import {
  createTransactionalCache,
  type TransactionalCache,
  MAX_CACHED_KEYS,
} from '../../../inbox/transactional-cache.js';
import { stateOf } from '../errors.js';
import type { Query } from '../open.js';
import type { Call } from './inbox-functions.js';

/** Where the latest post of a text stands: the rows are looked at again, for they may be gone. */
interface Known {
  readonly textId: number;
  readonly rowId: number | null;
}

interface Post extends NewDelivery {
  /** In its group. */
  readonly place: number;
}

/** Posts of a group that share a text, and with it a row. */
type Bundle = [Post, ...Post[]];

/** What became of a post, by its place. */
type Placed = readonly [number, StoreResult];

/** What became of a bundle. */
interface Stored {
  readonly rowId: number;
  readonly textId: number;
  readonly jobId: number | null;
  /** It was counted in a row that stood. */
  readonly stood: boolean;
}

export type Store = (deliveries: readonly NewDelivery[]) => Promise<StoreResult[]>;

const TRIGGER = 'delivery';

/** A fault of what was to be stored: data, constraints, limits. */
const FAULT_OF_A_ROW = /^(22|23|54)/;

/**
 * Store a group in one transaction; where one of it is at fault each is tried alone, so that a bad row fails nobody
 * else. Several groups may be under way.
 */
export function createStore(query: Query, call: Call): Store {
  let known: TransactionalCache<Known> | null = null;

  async function storeTogether(bundles: readonly Bundle[]): Promise<Placed[]> {
    known ??= createTransactionalCache(await readLatest(query));
    const memory = known;
    const rows = bundles.map((bundle, n) => cellsOf(bundle, n, memory));
    const given = {
      kind: INSTALLATION_JOB,
      trigger: TRIGGER,
      row_ids: rows.flatMap(({ row_id: id }) => id ?? []),
      text_ids: rows.flatMap(({ stored_text_id: id }) => id ?? []),
    };
    const stored = await call<Stored[]>('store', given, rows);
    return resultsOf(bundles, stored, memory);
  }

  async function storeWave(bundles: readonly Bundle[]): Promise<Placed[]> {
    try {
      return await storeTogether(bundles);
    } catch (error) {
      const failure = toStoreFailure(error);
      const posts = bundles.flat();
      if (posts.length === 1 || !FAULT_OF_A_ROW.test(stateOf(error))) {
        return posts.map(({ place }) => [place, { failure }]);
      }
      const tried: Placed[] = [];
      for (const post of posts) tried.push(...(await storeWave([[post]])));
      return tried;
    }
  }

  return async deliveries => {
    const results: StoreResult[] = [];
    for (const bundles of wavesOf(deliveries)) {
      for (const [place, result] of await storeWave(bundles)) results[place] = result;
    }
    return results;
  };
}

async function readLatest(query: Query): Promise<Map<string, Known>> {
  const latest = await query<{ sha256: string; id: number }>(
    `SELECT sha256, id FROM (
       SELECT sha256, id FROM inbox.signed_texts ORDER BY id DESC LIMIT ${MAX_CACHED_KEYS}) AS latest ORDER BY id`,
  );
  return new Map(latest.map(({ sha256, id }) => [sha256, { textId: id, rowId: null }]));
}

/** Of those that are stored at once each has another text: what one row has of a text the next is to know. */
function wavesOf(deliveries: readonly NewDelivery[]): Bundle[][] {
  const waves: Map<string, Bundle>[] = [];
  deliveries.forEach((delivery, place) => {
    const { sha256 } = delivery;
    const latest = waves.findLastIndex(wave => wave.has(sha256));
    const bundle = waves[latest]?.get(sha256);
    if (bundle !== undefined && sharesRow(bundle[0], delivery)) {
      bundle.push({ ...delivery, place });
      return;
    }
    const wave = (waves[latest + 1] ??= new Map<string, Bundle>());
    wave.set(sha256, [{ ...delivery, place }]);
  });
  return waves.map(wave => [...wave.values()]);
}

function sharesRow(first: NewDelivery, { secretIndex, receivedMsAgo }: NewDelivery): boolean {
  const ageMs = first.receivedMsAgo - receivedMsAgo;
  return secretIndex === first.secretIndex && ageMs >= 0 && ageMs < FOLD_WINDOW_MS;
}

function cellsOf(posts: Bundle, n: number, memory: TransactionalCache<Known>) {
  const [first] = posts;
  const { textId = null, rowId = null } = memory.get(first.sha256) ?? {};
  return {
    n,
    stored_text_id: textId,
    row_id: rowId,
    ms_ago: posts.map(({ receivedMsAgo }) => receivedMsAgo),
    job_key: keyOf(first),
    event: first.event,
    installation_id: first.installationId,
    organization_id: first.organizationId,
    sha256: first.sha256,
    signed_data: first.signedData,
    contradicted_fields:
      posts.find(({ contradictedFields }) => contradictedFields !== null)?.contradictedFields ?? null,
    verdict: first.verdict,
    reason: first.reason,
    secret_index: first.secretIndex,
  };
}

/** Of the job that it asks for. */
function keyOf({ verdict, installationId, organizationId }: NewDelivery): string | null {
  if (verdict !== 'accepted' || installationId === null) return null;
  return createInstallationJob(installationId, organizationId, TRIGGER).dedupeKey;
}

function resultsOf(
  bundles: readonly Bundle[],
  stored: readonly Stored[],
  memory: TransactionalCache<Known>,
): Placed[] {
  const results = bundles.flatMap((posts, n): Placed[] => {
    const row = stored[n];
    if (row === undefined) throw new Error('expected a row for each text, got none');
    const { rowId: id, textId, jobId, stood } = row;
    memory.set(posts[0].sha256, { textId, rowId: id });
    return posts.map(({ place }, post) => [place, { id, jobId, isDuplicate: stood || post > 0 }]);
  });
  memory.commit();
  return results;
}
