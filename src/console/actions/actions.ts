import type { Express, NextFunction, Request, Response } from 'express';
import { FORM, formIn, paramsOf } from '../answers.js';
import type { Ask } from '../page.js';
import type { Readers } from '../readers.js';
import { JOBS } from '../../query/lists/lists.js';
import { readNumbered } from '../../query/lists/read.js';
import { readTargets, type Target } from '../../query/at-registry.js';

/** What people may have done by a page, handed in by whoever may write. Each is told to the log there. */
export interface Actions {
  /** Tries failed jobs again; answers those that will run. */
  readonly retry: (jobs: readonly number[] | 'all') => Promise<readonly number[]>;
  /** Looks at installations again, at once; answers the jobs that do it. */
  readonly sync: (
    at: readonly Pick<Target, 'installation_id' | 'organization_id'>[],
  ) => Promise<readonly number[]>;
  /** Looks for installations that nobody has announced. */
  readonly discover: () => Promise<readonly number[]>;
  /** Compares every row with the registry; null where nobody here may ask there. */
  readonly compare: (() => void) | null;
}

interface Wanted extends Pick<Ask, 'reader' | 'params'> {
  readonly actions: Actions;
  readonly form: URLSearchParams;
}

/** By its path what is done; it answers where what came of it is shown, null where there is nothing to do it to. */
const ROUTES: Readonly<Record<string, (wanted: Wanted) => Promise<string | null>>> = {
  '/jobs/retry': async ({ actions }) => {
    await actions.retry('all');
    return '/jobs';
  },
  '/jobs/:id/retry': retryOne,
  '/read-now': readNow,
  '/balance/compare': async ({ actions }) => {
    actions.compare?.();
    return actions.compare === null ? null : '/balance';
  },
};

async function retryOne({ actions, reader, params }: Wanted): Promise<string | null> {
  const job = await readNumbered(reader, JOBS, params['id'] ?? '');
  if (job === null) return null;
  await actions.retry([Number(job['id'])]);
  return `/jobs/${String(job['id'])}`;
}

/** Of one organization, or of all of them and what is found on the way. */
async function readNow({ actions, reader, form }: Wanted): Promise<string | null> {
  const organizationId = form.get('organization_id');
  const targets = await readTargets(reader, organizationId);
  if (organizationId !== null && targets.length === 0) return null;
  const jobs = [
    ...(await actions.sync(targets)),
    ...(organizationId === null ? await actions.discover() : []),
  ];
  return jobs.length === 1 ? `/jobs/${jobs[0]}` : '/jobs?trigger=person';
}

export function offerActions(app: Express, readers: Readers, actions: Actions): void {
  for (const [path, run] of Object.entries(ROUTES)) {
    app.post(path, FORM, async (request: Request, response: Response, next: NextFunction) => {
      const wanted = { actions, params: paramsOf(request), form: formIn(request) };
      const shownAt = await readers.use(reader => run({ ...wanted, reader }));
      return shownAt === null ? next() : response.redirect(303, shownAt);
    });
  }
}
