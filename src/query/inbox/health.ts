import type { Reader } from '../../store/contract/reader.js';
import { readFindings } from '../history/findings.js';
import { readBacklog } from './backlog.js';
import { readCauses, sumRejected } from './causes.js';
import { readJobSums, readNewestDelivery } from './deliveries-and-jobs.js';
import { readLife } from './heartbeats.js';
import { count, inSnapshot } from '../sql.js';

const DAY_MS = 86_400_000;

export type Health = Awaited<ReturnType<typeof readHealth>>;

export async function readHealth(reader: Reader, now: number) {
  return await inSnapshot(reader, async snapshot => {
    const { db } = snapshot;
    const yesterday = new Date(now - DAY_MS).toISOString();
    const deliveries = db.selectFrom('inbox.deliveries').where('received_at', '>=', yesterday);
    return {
      ...(await readActivity(snapshot, now)),
      origin: await readOrigin(snapshot),
      /** Since yesterday. */
      ignored: await count(deliveries.where('verdict', '=', 'ignored')),
      activeInstallations: await count(db.selectFrom('installations').where('state', '=', 'active')),
      troubled: await readTroubled(snapshot),
      drift: await sumDrift(snapshot, yesterday),
      findings: await readFindings(snapshot),
    };
  });
}

export async function readOrigin({ db }: Reader) {
  const asked = db.selectFrom('origin').select(['base_url as baseUrl', 'app_id as appId']);
  return (await asked.executeTakeFirst()) ?? null;
}

/** Resources that are stale, were never read for a fault, or whose last read failed, with their organization. */
async function readTroubled({ db }: Reader) {
  return await db
    .selectFrom('freshness as f')
    .leftJoin('organizations as o', 'o.id', 'f.organization_id')
    .select(eb => [
      eb.fn.coalesce('o.full_name', 'f.organization_id', eb.val('')).as('name'),
      'f.resource',
      'f.state',
      'f.reason',
      'f.failing_since as failingSince',
    ])
    .where(eb =>
      eb.or([
        eb('f.state', '=', 'stale'),
        eb.and([eb('f.state', '=', 'never_read'), eb('f.reason', '<>', 'waiting')]),
        eb.and([eb('f.state', '=', 'fresh'), eb('f.failing_since', 'is not', null)]),
      ]),
    )
    .orderBy('name')
    .orderBy('f.resource')
    .orderBy('f.organization_id')
    .execute();
}

async function sumDrift({ db }: Reader, since: string): Promise<number> {
  const { drift } = await db
    .selectFrom('syncs')
    .select(eb => eb.fn.sum<number | null>('drift').as('drift'))
    .where('drift', '>', 0)
    .where('started_at', '>=', since)
    .executeTakeFirstOrThrow();
  return drift ?? 0;
}

export type Activity = Awaited<ReturnType<typeof readActivity>>;

/** What comes in and what is done about it. */
export async function readActivity(reader: Reader, now: number) {
  return await inSnapshot(reader, async snapshot => {
    const { unread, delayed } = await readBacklog(snapshot, now);
    return {
      worker: await readLife(snapshot, 'work', now),
      receiver: await readLife(snapshot, 'receive', now),
      jobs: await readJobSums(snapshot, new Date(now).toISOString()),
      /** Since when the oldest job waits that is due; null where none is. */
      oldestDueAt: await readOldestDue(snapshot, now),
      /** Since when the oldest delivery waits that no read has answered; null where none does. */
      oldestUnreadAt: unread?.since ?? null,
      /** What waits for longer than it may. */
      delayed,
      /** What was turned away since yesterday. */
      rejectedWebhooks: await sumRejected(snapshot, new Date(now - DAY_MS).toISOString()),
      newestDeliveryAt: await readNewestDelivery(snapshot),
      ignored: await count(snapshot.db.selectFrom('inbox.deliveries').where('verdict', '=', 'ignored')),
      /** Why the registry is not asked or does not tell. */
      causes: await readCauses(snapshot, now),
    };
  });
}

async function readOldestDue({ db }: Reader, now: number): Promise<string | null> {
  const due = db
    .selectFrom('inbox.jobs')
    .select(eb => eb.fn.min<string | null>('run_at').as('at'))
    .where('state', '=', 'waiting')
    .where('run_at', '<=', new Date(now).toISOString());
  return (await due.executeTakeFirst())?.at ?? null;
}
