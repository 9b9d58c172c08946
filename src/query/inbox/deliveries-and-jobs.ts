import { AT_ONCE, type Reader } from '../../engines/contract/reader.js';
import type { Row, Tables } from '../../engines/contract/tables.js';
import { count } from '../count.js';

export const DELIVERY_COLUMNS = [
  'id',
  'received_at',
  'event',
  'organization_name',
  'verdict',
  'job_state',
  'end',
  'repeats',
  'reason',
  'job_id',
  'installation_id',
] as const;

export const JOB_COLUMNS = [
  'id',
  'kind',
  'state',
  'organization_name',
  'end',
  'run_at',
  'attempts',
  'trigger',
  'lane',
  'last_error_code',
  'organization_id',
] as const;

interface DeliveryFilter {
  readonly verdict: Tables['inbox.deliveries']['verdict'] | null;
  readonly installationId: string | null;
  /** Only those that came after this one. */
  readonly after: number;
  /** Null for all of them. */
  readonly limit: number | null;
}

/** How the outcome of a job begins that could not read all that it was to read. */
export const IN_PART = 'read in part';

/** Newest first, each beside the job that was sure to start after it. */
export async function readDeliveries({ db }: Reader, filter: DeliveryFilter): Promise<Row[]> {
  const { verdict, installationId, after, limit } = filter;
  let asked = deliveries(db).where('d.id', '>', after).orderBy('d.id', 'desc');
  if (verdict !== null) asked = asked.where('d.verdict', '=', verdict);
  if (installationId !== null) asked = asked.where('d.installation_id', '=', installationId);
  if (limit !== null) asked = asked.limit(limit);
  return await asked.execute();
}

function deliveries(db: Reader['db']) {
  return db
    .selectFrom('inbox.deliveries as d')
    .leftJoin('inbox.jobs as j', 'j.id', 'd.job_id')
    .leftJoin('inbox.jobs as m', 'm.id', 'j.merged_into')
    .selectAll('d')
    .select(eb => [
      'j.state as job_state',
      eb.fn.coalesce('m.state', 'j.state').as('final_state'),
      eb.fn.coalesce('m.outcome', 'm.last_error', 'j.outcome', 'j.last_error').as('outcome'),
      'j.merged_into',
      eb.fn.coalesce('m.finished_at', 'j.finished_at').as('finished_at'),
      eb.fn.coalesce('m.organization_id', 'j.organization_id').as('work_for'),
      eb.fn.coalesce('m.claim', 'j.claim').as('work_claim'),
      eb.fn.coalesce('m.started_at', 'j.started_at').as('work_started_at'),
      eb
        .selectFrom('installations as i')
        .innerJoin('organizations as o', 'o.id', 'i.organization_id')
        .select('o.full_name')
        .whereRef('i.id', '=', 'd.installation_id')
        .as('organization_name'),
    ]);
}

export interface DeliveryDetail {
  readonly delivery: Row;
  /** The signed text as it was sent; null once it is older than the retention, or was removed for a person's sake. */
  readonly signedData: string | null;
}

export async function readDelivery({ db }: Reader, id: number): Promise<DeliveryDetail | null> {
  const delivery = await deliveries(db).where('d.id', '=', id).executeTakeFirst();
  if (delivery === undefined) return null;
  const text = await db
    .selectFrom('inbox.signed_texts')
    .select('signed_data')
    .where('id', '=', delivery.text_id)
    .where('digest', '=', delivery.digest)
    .executeTakeFirst();
  return { delivery, signedData: text?.signed_data || null };
}

const MINUTE_MS = 60_000;

/** When the newest came: a row is counted on for a minute at most. */
export async function readNewestDelivery({ db }: Reader): Promise<string | null> {
  const { at } = await db
    .selectFrom('inbox.deliveries')
    .select(eb => eb.fn.max<string | null>('received_at').as('at'))
    .executeTakeFirstOrThrow();
  if (at === null) return null;
  const repeated = await db
    .selectFrom('inbox.deliveries')
    .select(eb => eb.fn.max('last_received_at').as('at'))
    .where('received_at', '>=', new Date(Date.parse(at) - MINUTE_MS).toISOString())
    .executeTakeFirstOrThrow();
  return repeated.at !== null && repeated.at > at ? repeated.at : at;
}

interface Repeated {
  readonly newestId: number;
  readonly posts: number;
}

/** The text that came most often since an instant; null where none came more than once. */
export async function findMostRepeated({ db }: Reader, since: string): Promise<Repeated | null> {
  const most = await db
    .selectFrom('inbox.deliveries')
    .select(eb => [
      eb.fn.max('id').as('newestId'),
      eb(eb.fn.countAll<number>(), '+', eb.fn.sum<number>('repeats')).as('posts'),
    ])
    .where('received_at', '>=', since)
    .groupBy('digest')
    .orderBy('posts', 'desc')
    .orderBy('newestId', 'desc')
    .limit(1)
    .executeTakeFirst();
  return most !== undefined && most.posts > 1 ? most : null;
}

/** Whether any delivery told of this installation. */
export async function hasDeliveries({ db }: Reader, installationId: string): Promise<boolean> {
  const asked = db.selectFrom('inbox.deliveries').select('id').where('installation_id', '=', installationId);
  return (await asked.limit(1).executeTakeFirst()) !== undefined;
}

interface StoredText {
  readonly id: number;
  readonly digest: string;
  readonly signed_data: string;
}

/** Every signed text that is still there. */
export function readSignedTexts({ db }: Reader): AsyncIterable<StoredText> {
  const asked = db.selectFrom('inbox.signed_texts').select(['id', 'digest', 'signed_data']);
  return asked.where('signed_data', '<>', '').orderBy('id').stream(AT_ONCE);
}

interface JobFilter {
  readonly state: Tables['inbox.jobs']['state'] | null;
  readonly organizationId: string | null;
  /** Null for all of them. */
  readonly limit: number | null;
}

/** Newest first. */
export async function readJobs({ db }: Reader, filter: JobFilter): Promise<Row[]> {
  const { state, organizationId, limit } = filter;
  let asked = jobs(db).orderBy('j.id', 'desc');
  if (state !== null) asked = asked.where('j.state', '=', state);
  if (organizationId !== null) asked = asked.where('j.organization_id', '=', organizationId);
  if (limit !== null) asked = asked.limit(limit);
  return await asked.execute();
}

/** Whether any job is or was for this organization. */
export async function hasJobs({ db }: Reader, organizationId: string): Promise<boolean> {
  const asked = db.selectFrom('inbox.jobs').select('id').where('organization_id', '=', organizationId);
  return (await asked.limit(1).executeTakeFirst()) !== undefined;
}

export async function readJob({ db }: Reader, id: number): Promise<Row | null> {
  const job = await jobs(db).where('j.id', '=', id).executeTakeFirst();
  return job ?? null;
}

function jobs(db: Reader['db']) {
  return db
    .selectFrom('inbox.jobs as j')
    .leftJoin('organizations as o', 'o.id', 'j.organization_id')
    .selectAll('j')
    .select([
      'o.full_name as organization_name',
      'j.organization_id as work_for',
      'j.claim as work_claim',
      'j.started_at as work_started_at',
    ]);
}

/** Due jobs may start now; planned ones later. Done ones are not counted: there may be a million. */
export interface JobSums {
  readonly due: number;
  readonly planned: number;
  readonly claimed: number;
  readonly parked: number;
  readonly buried: number;
  /** Failed while the registry did not answer; they come before all that is merely due. */
  readonly triedFirst: number;
  /** Failed more than once, and due again by themselves. */
  readonly retrying: number;
  /** Of the newest of them, and which it is. */
  readonly retryingError: string | null;
  readonly retryingJob: number | null;
}

/** Each state by an index of its own. */
export async function readJobSums({ db }: Reader, now: string): Promise<JobSums> {
  const all = db.selectFrom('inbox.jobs');
  const ready = all.where('state', '=', 'ready');
  const retrying = ready.where('attempts', '>', 1).where('last_error', 'is not', null);
  const newest = await retrying
    .select(['id', 'last_error'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return {
    due: await count(ready.where('run_at', '<=', now)),
    planned: await count(ready.where('run_at', '>', now)),
    claimed: await count(all.where('state', '=', 'claimed')),
    parked: await count(all.where('state', '=', 'parked')),
    buried: await count(givenUp(db)),
    triedFirst: await count(ready.where('attempts', '>', 0).whereRef('run_at', '<=', 'created_at')),
    retrying: await count(retrying),
    retryingError: newest?.last_error ?? null,
    retryingJob: newest?.id ?? null,
  };
}

/** Buried, and nothing has read the same since. */
function givenUp(db: Reader['db']) {
  return db
    .selectFrom('inbox.jobs as j')
    .where('j.state', '=', 'buried')
    .where(eb =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('inbox.jobs as d')
            .select('d.id')
            .whereRef('d.installation_id', '=', 'j.installation_id')
            .whereRef('d.lane', '=', 'j.lane')
            .whereRef('d.started_at', '>', 'j.started_at')
            .where('d.state', '=', 'done')
            .where(of => of.or([of('d.kind', '=', 'installation'), of('d.kind', '=', of.ref('j.kind'))]))
            .where('d.outcome', 'not in', ['merged', 'overtaken'])
            .where('d.outcome', 'not like', `${IN_PART}%`),
        ),
      ),
    );
}
