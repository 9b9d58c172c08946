import {
  describeFailure,
  FOLDED_WITHIN_MS,
  type NewDelivery,
  type StoreResult,
} from '../../../inbox/delivery.js';
import { INSTALLATION_JOB, installationJob } from '../../../inbox/job.js';
import { createMemory, type Memory, REMEMBERED } from '../../../inbox/memory.js';
import { stateOf } from '../errors.js';
import type { Query } from '../open.js';
import type { Call } from './call.js';

/** Where the latest post of a text stands: the rows are looked at again, for they may be gone. */
interface Known {
  readonly textId: number;
  readonly rowId: number | null;
}

/** Posts of a group that share a text, and with it a row. */
interface Bundle {
  readonly posts: [NewDelivery, ...NewDelivery[]];
  /** Their places in the group. */
  readonly places: number[];
  /** Another bundle of the group has the same text. */
  readonly again: boolean;
}

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
  let known: Memory<Known> | null = null;

  async function storeTogether(deliveries: readonly NewDelivery[]): Promise<StoreResult[]> {
    known ??= createMemory(await readLatest(query));
    const memory = known;
    const bundles = bundlesOf(deliveries);
    const rows = bundles.map((bundle, n) => cellsOf(bundle, n, memory));
    const given = { kind: INSTALLATION_JOB, trigger: TRIGGER };
    const stored = rows.every(isNew)
      ? await call<Stored[]>('store_new', given, rows)
      : await call<Stored[]>('store', { ...given, rows });
    return resultsOf(bundles, stored, memory);
  }

  return async function store(deliveries) {
    try {
      return await storeTogether(deliveries);
    } catch (error) {
      const failure = describeFailure(error);
      if (deliveries.length === 1 || !FAULT_OF_A_ROW.test(stateOf(error))) {
        return deliveries.map(() => ({ failure }));
      }
      const results: StoreResult[] = [];
      for (const delivery of deliveries) results.push(...(await store([delivery])));
      return results;
    }
  };
}

async function readLatest(query: Query): Promise<Map<string, Known>> {
  const latest = await query<{ sha256: string; id: number }>(
    `SELECT sha256, id FROM (
       SELECT sha256, id FROM inbox.signed_texts ORDER BY id DESC LIMIT ${REMEMBERED}) AS latest ORDER BY id`,
  );
  return new Map(latest.map(({ sha256, id }) => [sha256, { textId: id, rowId: null }]));
}

function bundlesOf(deliveries: readonly NewDelivery[]): Bundle[] {
  const open = new Map<string, Bundle>();
  const seen = new Set<string>();
  const bundles: Bundle[] = [];
  deliveries.forEach((delivery, place) => {
    const { sha256, secretIndex, receivedMsAgo } = delivery;
    const key = `${secretIndex} ${sha256}`;
    const found = open.get(key);
    const ageMs = found === undefined ? 0 : found.posts[0].receivedMsAgo - receivedMsAgo;
    if (found !== undefined && ageMs >= 0 && ageMs < FOLDED_WITHIN_MS) {
      found.posts.push(delivery);
      found.places.push(place);
      return;
    }
    const bundle: Bundle = { posts: [delivery], places: [place], again: seen.has(sha256) };
    open.set(key, bundle);
    seen.add(sha256);
    bundles.push(bundle);
  });
  return bundles;
}

function cellsOf({ posts: [first, ...others], again }: Bundle, n: number, memory: Memory<Known>) {
  const { textId = null, rowId = null } = memory.get(first.sha256) ?? {};
  const all = [first, ...others];
  return {
    n,
    again,
    stored_text_id: textId,
    row_id: rowId,
    ms_ago: all.map(({ receivedMsAgo }) => receivedMsAgo),
    job_key: keyOf(first),
    event: first.event,
    installation_id: first.installationId,
    organization_id: first.organizationId,
    sha256: first.sha256,
    signed_data: first.signedData,
    contradicted_fields:
      all.find(({ contradictedFields }) => contradictedFields !== null)?.contradictedFields ?? null,
    verdict: first.verdict,
    reason: first.reason,
    secret_index: first.secretIndex,
  };
}

/** No post of its text is known, of this group or of an earlier one. */
function isNew({ again, stored_text_id, row_id }: ReturnType<typeof cellsOf>): boolean {
  return !again && stored_text_id === null && row_id === null;
}

/** Of the job that it asks for. */
function keyOf({ verdict, installationId, organizationId }: NewDelivery): string | null {
  if (verdict !== 'accepted' || installationId === null) return null;
  return installationJob(installationId, organizationId, TRIGGER).dedupeKey;
}

function resultsOf(
  bundles: readonly Bundle[],
  stored: readonly Stored[],
  memory: Memory<Known>,
): StoreResult[] {
  const results: StoreResult[] = [];
  bundles.forEach(({ posts: [first], places }, n) => {
    const row = stored[n];
    if (row === undefined) throw new Error('expected a row for each text, got none');
    const { rowId: id, textId, jobId, stood } = row;
    memory.set(first.sha256, { textId, rowId: id });
    places.forEach((place, post) => {
      results[place] = { id, jobId, isDuplicate: stood || post > 0 };
    });
  });
  memory.committed();
  return results;
}
