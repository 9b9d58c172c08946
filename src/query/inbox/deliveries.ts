import type { Reader } from '../../store/contract/reader.js';
import type { Row, Tables } from '../../store/contract/tables.js';
import { columns, first, only, plain, sql } from '../sql.js';

/** The signed text of a delivery as it was sent; null once it is older than the retention, or was removed for a person's sake. */
export async function readSignedText(
  reader: Reader,
  { stored_text_id: id, signed_text_sha256: sha256 }: Row,
): Promise<string | null> {
  const asked = sql`SELECT ${columns('inbox.signed_texts', ['signed_data'])} FROM inbox.signed_texts
    WHERE id = ${Number(id)} AND sha256 = ${String(sha256)}`;
  return (await first(reader, asked))?.signed_data || null;
}

/** The text that came most often since an instant; null where none came more than once. */
export async function findMostDuplicated(reader: Reader, since: string) {
  const most = sql<{ newest_id: number; times: number }>`SELECT max(id) AS newest_id,
      count(*) + sum(duplicates) AS times
    FROM inbox.deliveries WHERE received_at >= ${since} GROUP BY signed_text_sha256
    HAVING count(*) + sum(duplicates) > 1 ORDER BY times DESC, newest_id DESC LIMIT 1`;
  return await first(reader, most);
}

/** Every signed text that is still there. */
export function readSignedTexts({ stream }: Reader) {
  const wanted = columns('inbox.signed_texts', ['id', 'sha256', 'signed_data']);
  return stream(sql`SELECT ${wanted} FROM inbox.signed_texts WHERE signed_data <> '' ORDER BY id`);
}

const READS = 200;

/** What the job that answers a delivery read, in its order: each list as it was read last, with all that changed. And the walk over certificates that came next for the same organization. */
export async function readSyncsOf({ all }: Reader, organizationId: string, jobId: number) {
  const syncs = sql<Tables['syncs']>`SELECT * FROM mirror.syncs WHERE organization_id = ${organizationId}`;
  const reads = await all(sql`${syncs} AND job_id = ${jobId} ORDER BY id LIMIT ${READS}`);
  const last = reads.at(-1);
  if (last === undefined) return [];
  const next = sql`${syncs} AND resource = 'certificates' AND id > ${last.id} ORDER BY id LIMIT 1`;
  const known = new Map<string, (typeof reads)[number]>();
  for (const read of reads) {
    const {
      rows_added: added = 0,
      rows_changed: altered = 0,
      rows_removed: removed = 0,
    } = known.get(read.resource) ?? {};
    known.set(read.resource, {
      ...read,
      rows_added: read.rows_added + added,
      rows_changed: read.rows_changed + altered,
      rows_removed: read.rows_removed + removed,
    });
  }
  return [...known.values(), ...(await all(next))];
}

/** Of what no later read brings back: how many there are, and the newest. */
interface RetainedRange {
  readonly count: number;
  readonly id: number;
  readonly at: string | null;
}

export interface StoredRecordCounts {
  readonly deliveries: RetainedRange;
  readonly syncs: RetainedRange;
}

/** What is there, or only what came after that. */
export async function readKept(
  reader: Reader,
  after: StoredRecordCounts | null = null,
): Promise<StoredRecordCounts> {
  return {
    deliveries: await readAfter(reader, 'inbox.deliveries', 'received_at', after?.deliveries.id ?? 0),
    syncs: await readAfter(reader, 'mirror.syncs', 'started_at', after?.syncs.id ?? 0),
  };
}

async function readAfter(reader: Reader, from: string, came: string, after: number): Promise<RetainedRange> {
  const asked = sql<RetainedRange>`SELECT count(*) AS count, coalesce(max(id), ${after}) AS id, max(${plain(came)}) AS at
    FROM ${plain(from)} WHERE id > ${after}`;
  return await only(reader, asked);
}
