import type { Express, NextFunction, Request, Response } from 'express';
import { readFormBody, parseForm, getPathParameters } from '../responder.js';
import type { PageRequest } from '../page.js';
import type { ReaderPool } from '../reader-pool.js';
import { JOBS } from '../../query/lists/lists.js';
import { readNumbered } from '../../query/lists/read.js';
import { readTargets, type Target } from '../../query/at-registry.js';

/** Work that pages may request. Each request is logged. */
export interface ConsoleActions {
  /** Retries failed jobs; returns the ids of those that will run. */
  readonly retry: (jobs: readonly number[] | 'all') => Promise<readonly number[]>;
  /** Requests a sync of these installations now; returns the job ids. */
  readonly sync: (
    at: readonly Pick<Target, 'installation_id' | 'organization_id'>[],
  ) => Promise<readonly number[]>;
  /** Requests a search for unannounced installations; returns the job ids. */
  readonly discover: () => Promise<readonly number[]>;
  /** Starts a comparison with the registry; null without registry credentials. */
  readonly compare: (() => void) | null;
}

interface ActionRequest extends Pick<PageRequest, 'reader' | 'params'> {
  readonly actions: ConsoleActions;
  readonly form: URLSearchParams;
}

/** Actions by path. Each returns the page that shows the result; null if its target does not exist. */
const ROUTES: Readonly<Record<string, (wanted: ActionRequest) => Promise<string | null>>> = {
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

async function retryOne({ actions, reader, params }: ActionRequest): Promise<string | null> {
  const job = await readNumbered(reader, JOBS, params['id'] ?? '');
  if (job === null) return null;
  await actions.retry([Number(job['id'])]);
  return `/jobs/${String(job['id'])}`;
}

/** Requests a sync of one organization, or of all and a search for new installations. */
async function readNow({ actions, reader, form }: ActionRequest): Promise<string | null> {
  const organizationId = form.get('organization_id');
  const targets = await readTargets(reader, organizationId);
  if (organizationId !== null && targets.length === 0) return null;
  const jobs = [
    ...(await actions.sync(targets)),
    ...(organizationId === null ? await actions.discover() : []),
  ];
  return jobs.length === 1 ? `/jobs/${jobs[0]}` : '/jobs?trigger=person';
}

export function addActionRoutes(app: Express, readers: ReaderPool, actions: ConsoleActions): void {
  for (const [path, run] of Object.entries(ROUTES)) {
    app.post(path, readFormBody, async (request: Request, response: Response, next: NextFunction) => {
      const wanted = { actions, params: getPathParameters(request), form: parseForm(request) };
      const shownAt = await readers.use(reader => run({ ...wanted, reader }));
      return shownAt === null ? next() : response.redirect(303, shownAt);
    });
  }
}
