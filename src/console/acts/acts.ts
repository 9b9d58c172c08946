import type { Reader } from '../../engines/contract/reader.js';
import { readDelivery, readJob } from '../../query/inbox/deliveries-and-jobs.js';
import { readTargets, type Target } from '../../query/reads/sync-progress.js';

/** What people may have done by a page, handed in by whoever may write. Each is told to the log there. */
export interface Hands {
  /** Tries buried jobs again; answers those that will run. */
  readonly retry: (jobs: readonly number[] | 'all') => Promise<readonly number[]>;
  /** Looks at installations again, at once; answers the jobs that do it. */
  readonly look: (
    at: readonly Pick<Target, 'installationId' | 'organizationId'>[],
  ) => Promise<readonly number[]>;
  /** Looks for installations that nobody has announced. */
  readonly discover: () => Promise<readonly number[]>;
}

interface Wanted {
  readonly hands: Hands;
  readonly reader: Reader;
  readonly params: Readonly<Record<string, string>>;
  readonly form: URLSearchParams;
}

export interface Act {
  readonly path: string;
  /** Answers where what came of it is shown; null where there is nothing to do it to. */
  readonly run: (wanted: Wanted) => Promise<string | null>;
}

const NUMBER = /^\d{1,15}$/;

export const ACTS: readonly Act[] = [
  { path: '/jobs/retry', run: retryAll },
  { path: '/jobs/:id/retry', run: retryOne },
  { path: '/deliveries/:id/replay', run: replay },
  { path: '/read-now', run: readNow },
];

async function retryAll({ hands }: Wanted): Promise<string> {
  await hands.retry('all');
  return '/jobs';
}

async function retryOne({ hands, reader, params: { id = '' } }: Wanted): Promise<string | null> {
  if (!NUMBER.test(id) || (await readJob(reader, Number(id))) === null) return null;
  await hands.retry([Number(id)]);
  return `/jobs/${id}`;
}

async function replay({ hands, reader, params: { id = '' } }: Wanted): Promise<string | null> {
  const found = NUMBER.test(id) ? await readDelivery(reader, Number(id)) : null;
  const installationId = found?.delivery['installation_id'];
  if (typeof installationId !== 'string') return null;
  const [job] = await hands.look([{ installationId, organizationId: null }]);
  return `/jobs/${job}`;
}

/** Of one organization, or of all of them and what is found on the way. */
async function readNow({ hands, reader, form }: Wanted): Promise<string | null> {
  const organizationId = form.get('organization_id');
  const targets = await readTargets(reader, organizationId);
  if (organizationId !== null && targets.length === 0) return null;
  const jobs = [...(await hands.look(targets)), ...(organizationId === null ? await hands.discover() : [])];
  return jobs.length === 1 ? `/jobs/${jobs[0]}` : '/jobs?trigger=person';
}
