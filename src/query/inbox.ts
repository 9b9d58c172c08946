import type { Sqlite } from '../engines/sqlite/open.js';
import type { Value } from '../engines/contract/tables.js';

type Row = Record<string, Value>;

export const DELIVERY_COLUMNS = [
  'id',
  'received_at',
  'event',
  'installation_id',
  'repeats',
  'verdict',
  'reason',
  'job_id',
  'job_state',
  'outcome',
] as const;

export const JOB_COLUMNS = [
  'id',
  'kind',
  'lane',
  'state',
  'attempts',
  'trigger',
  'organization_id',
  'run_at',
  'last_error_code',
  'outcome',
] as const;

const DELIVERIES = `
  SELECT d.*, j.state AS job_state, coalesce(m.state, j.state) AS final_state,
    coalesce(j.last_error, j.outcome) AS outcome, j.merged_into, j.finished_at
  FROM inbox.deliveries AS d
  LEFT JOIN inbox.jobs AS j ON j.id = d.job_id
  LEFT JOIN inbox.jobs AS m ON m.id = j.merged_into`;

/** When the newest came: a row is counted on for a minute at most. */
export const NEWEST_DELIVERY = `
  SELECT max(max(received_at, coalesce(last_received_at, ''))) FROM inbox.deliveries
  WHERE received_at >= (
    SELECT strftime('%Y-%m-%dT%H:%M:%fZ', max(received_at), '-1 minute') FROM inbox.deliveries)`;

export const REFUSAL_COLUMNS = ['minute', 'status', 'reason', 'header_prefix', 'posts', 'newest_at'] as const;

/** Posts that were turned away, newest minute first. */
export function readRefusals(db: Sqlite, limit: number): Row[] {
  return db
    .prepare<[number], Row>(
      'SELECT * FROM inbox.refusals ORDER BY minute DESC, newest_at DESC, reason, header_prefix LIMIT ?',
    )
    .all(limit);
}

/** The same, added up over the minutes. */
export interface RefusalSum {
  readonly reason: string;
  readonly status: number;
  readonly headerPrefix: string;
  readonly posts: number;
  /** The minute of the first of them. */
  readonly since: string;
  readonly newestAt: string;
}

/** What was turned away since an instant, what came most first. */
export function sumRefusals(db: Sqlite, since: string): RefusalSum[] {
  return db
    .prepare<[string], RefusalSum>(
      `SELECT reason, status, header_prefix AS headerPrefix, sum(posts) AS posts, min(minute) AS since,
        max(newest_at) AS newestAt
      FROM inbox.refusals WHERE minute >= ?
      GROUP BY reason, status, header_prefix ORDER BY posts DESC, reason, header_prefix`,
    )
    .all(since.slice(0, 'YYYY-MM-DDTHH:MM'.length));
}

export interface Repeated {
  readonly newestId: number;
  readonly posts: number;
}

/** The text that came most often since an instant; null where none came more than once. */
export function findMostRepeated(db: Sqlite, since: string): Repeated | null {
  const found = db
    .prepare<[string], Repeated>(
      `SELECT max(id) AS newestId, count(*) + sum(repeats) AS posts FROM inbox.deliveries
      WHERE received_at >= ? GROUP BY digest HAVING posts > 1 ORDER BY posts DESC LIMIT 1`,
    )
    .get(since);
  return found ?? null;
}

export interface DeliveryFilter {
  readonly verdict: string | null;
  readonly installationId: string | null;
  /** Only those that came after this one. */
  readonly after: number;
  readonly limit: number;
}

/** Newest first, each beside the job that was sure to start after it. */
export function readDeliveries(db: Sqlite, filter: DeliveryFilter): Row[] {
  return db
    .prepare<[object], Row>(
      `${DELIVERIES}
      WHERE d.id > @after AND (@verdict IS NULL OR d.verdict = @verdict)
        AND (@installationId IS NULL OR d.installation_id = @installationId)
      ORDER BY d.id DESC LIMIT @limit`,
    )
    .all(filter);
}

export interface DeliveryDetail {
  readonly delivery: Row;
  /** The signed text as it was sent; null once it is older than the retention, or was removed for a person's sake. */
  readonly signedData: string | null;
}

export function readDelivery(db: Sqlite, id: number): DeliveryDetail | null {
  const delivery = db.prepare<[number], Row>(`${DELIVERIES} WHERE d.id = ?`).get(id);
  if (delivery === undefined) return null;
  const text = db
    .prepare<(Value | undefined)[], { signed_data: string }>(
      'SELECT signed_data FROM inbox.signed_texts WHERE id = ? AND digest = ?',
    )
    .get(delivery['text_id'], delivery['digest']);
  return { delivery, signedData: text?.signed_data || null };
}

export interface JobFilter {
  readonly state: string | null;
  readonly organizationId: string | null;
  readonly limit: number;
}

/** Newest first. */
export function readJobs(db: Sqlite, filter: JobFilter): Row[] {
  return db
    .prepare<[object], Row>(
      `SELECT * FROM inbox.jobs
      WHERE (@state IS NULL OR state = @state) AND (@organizationId IS NULL OR organization_id = @organizationId)
      ORDER BY id DESC LIMIT @limit`,
    )
    .all(filter);
}

/** Whether any job is or was for this organization. */
export function hasJobs(db: Sqlite, organizationId: string): boolean {
  return exists(db, 'SELECT 1 FROM inbox.jobs WHERE organization_id = ?', organizationId);
}

/** Whether any delivery told of this installation. */
export function hasDeliveries(db: Sqlite, installationId: string): boolean {
  return exists(db, 'SELECT 1 FROM inbox.deliveries WHERE installation_id = ?', installationId);
}

function exists(db: Sqlite, sql: string, value: string): boolean {
  return db.prepare<[string], number>(`SELECT EXISTS (${sql})`).pluck().get(value) === 1;
}

export function readJob(db: Sqlite, id: number): Row | null {
  return db.prepare<[number], Row>('SELECT * FROM inbox.jobs WHERE id = ?').get(id) ?? null;
}

export interface StoredText {
  readonly id: number;
  readonly digest: string;
  readonly signedData: string;
}

/** Every signed text that is still there. */
export function readSignedTexts(db: Sqlite): IterableIterator<StoredText> {
  return db
    .prepare<[], StoredText>(
      "SELECT id, digest, signed_data AS signedData FROM inbox.signed_texts WHERE signed_data <> ''",
    )
    .iterate();
}
