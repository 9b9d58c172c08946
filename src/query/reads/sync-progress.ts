import type { Reader } from '../../store/contract/reader.js';
import { largest, NULLS_FIRST, ofOne } from '../sql.js';

export type Target = Awaited<ReturnType<typeof readTargets>>[number];

/** Installations that can be asked: all that are not uninstalled, or those of one organization. */
export async function readTargets({ db }: Reader, organizationId: string | null) {
  const asked = db
    .selectFrom('installations')
    .select(['id as installationId', 'organization_id as organizationId', 'state'])
    .orderBy('organization_id', NULLS_FIRST)
    .orderBy('id');
  return await (organizationId === null
    ? asked.where('state', '<>', 'uninstalled')
    : asked.where('organization_id', '=', organizationId)
  ).execute();
}

type Mark = Awaited<ReturnType<typeof readMark>>;

/** Where the tables stood when the work was asked for. */
export async function readMark({ db }: Reader, now: number) {
  const job: number | null = await largest(db.selectFrom('inbox.jobs'), 'id');
  const sync: number | null = await largest(db.selectFrom('syncs'), 'id');
  return { job: job ?? 0, sync: sync ?? 0, at: new Date(now).toISOString() };
}

export interface Asked {
  readonly mark: Mark;
  readonly jobs: readonly number[];
  /** Null for all organizations, and what is found on the way. */
  readonly organizationId: string | null;
}

/** A job whose like has started a moment ago begins so much later. */
const PACE_MS = 1000;

const COLUMNS = [
  'id',
  'kind',
  'state',
  'organization_id as organizationId',
  'installation_id as installationId',
  'attempts',
  'started_at as startedAt',
  'run_at as runAt',
  'error_or_pause_code as errorCode',
  'last_error as error',
] as const;

export type Followed = Awaited<ReturnType<typeof readFollowed>>[number];

/**
 * The jobs that were asked for, those that took over from them, looks at installations that were found on the way,
 * and the certificates that are being fetched for them.
 */
export async function readFollowed({ db, say }: Reader, asked: Asked, now: number) {
  const { mark, jobs, organizationId } = asked;
  const soon = new Date(now + PACE_MS).toISOString();
  const asking = db.withRecursive('ours(id)', ours =>
    ours
      .selectFrom('inbox.jobs')
      .select('id')
      .where('id', 'in', say.each(jobs))
      .union(
        ours
          .selectFrom('ours')
          .innerJoin('inbox.jobs as j', 'j.id', 'ours.id')
          .where('j.merged_into', 'is not', null)
          .select(eb => eb.ref('j.merged_into').$notNull().as('id')),
      ),
  );
  const found = db
    .selectFrom('inbox.jobs')
    .select(COLUMNS)
    .where('id', '>', mark.job)
    .where('kind', '=', 'installation')
    .where('trigger', '=', 'schedule')
    .where('run_at', '<=', new Date(now).toISOString());
  const fetched = db.selectFrom('inbox.jobs').select(COLUMNS).where('kind', '=', 'certificates');
  const of = fetched.where(ofOne(organizationId));
  const followed = asking
    .selectFrom('inbox.jobs')
    .select(COLUMNS)
    .where('id', 'in', eb => eb.selectFrom('ours').select('ours.id'))
    .where('merged_into', 'is', null)
    .union(of.where('state', '=', 'waiting').where('run_at', '<=', soon))
    .union(of.where('state', '=', 'running'));
  return await (organizationId === null ? followed.union(found) : followed).orderBy('id').execute();
}

/** Whether some worker holds a lease on anything. */
export async function isAnybodyAtWork({ db }: Reader, now: number): Promise<boolean> {
  const running = db.selectFrom('inbox.jobs').select('id').where('state', '=', 'running');
  const held = running.where('claimed_until', '>', new Date(now).toISOString());
  return (await held.limit(1).executeTakeFirst()) !== undefined;
}
