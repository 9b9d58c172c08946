import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import type { NewOrder, Order } from '../../inbox/order.js';
import { getVisitor } from '../guard/visitor.js';
import { type Responder, parseForm, getPathParameters } from '../responder.js';
import type { ConsoleRequest } from '../page.js';
import type { ReaderPool } from '../reader-pool.js';
import { JOBS } from '../../query/lists/list-definitions.js';
import { readNumbered } from '../../query/lists/read-rows.js';
import { readInstallationTargets, type InstallationTarget } from '../../query/at-registry.js';

/** Creates the actions of one visitor. `actor` is the name that the sign-in proxy sent, or null without a proxy. */
export type CreateConsoleActions = (actor: string | null) => ConsoleActions;

/** Work that pages may request. Each request is logged with the name of the actor. */
export interface ConsoleActions {
  /** Retries failed jobs. Returns the ids of the jobs that will run. */
  readonly retryJobs: (jobIds: readonly number[] | 'all') => Promise<readonly number[]>;
  /** Requests an immediate sync of these installations. Returns the ids of the created jobs. */
  readonly requestSyncs: (
    targets: readonly Pick<InstallationTarget, 'installation_id' | 'organization_id'>[],
  ) => Promise<readonly number[]>;
  /** Requests a search for new installations. Returns the ids of the created jobs. */
  readonly requestDiscovery: () => Promise<readonly number[]>;
  /** Stores an order for the worker. Returns the order that is stored under its key. */
  readonly placeOrder: (order: NewOrder) => Promise<Order>;
  /** Starts a comparison with the registry. Null if the console has no registry credentials. */
  readonly startComparison: (() => void) | null;
}

/** A form that was sent to request an action. */
interface ActionRequest extends Pick<ConsoleRequest, 'reader' | 'params'> {
  readonly actions: ConsoleActions;
  readonly form: URLSearchParams;
}

/** Performs an action. Returns the path of the page that shows the result, or null if the target does not exist. */
type ActionHandler = (request: ActionRequest) => Promise<string | null>;

/** Actions by the path that their forms are sent to. */
const ACTIONS_BY_PATH: Readonly<Record<string, ActionHandler>> = {
  '/jobs/retry': async ({ actions }) => {
    await actions.retryJobs('all');
    return '/jobs';
  },
  '/jobs/:id/retry': retryJob,
  '/read-now': requestSync,
  '/balance/compare': async ({ actions }) => {
    actions.startComparison?.();
    return actions.startComparison === null ? null : '/balance';
  },
};

/** Retries a failed job. Returns the path of the job's page, or null if the job does not exist. */
async function retryJob({ actions, reader, params }: ActionRequest): Promise<string | null> {
  const job = await readNumbered(reader, JOBS, params['id'] ?? '');
  if (job === null) return null;
  await actions.retryJobs([Number(job['id'])]);
  return `/jobs/${String(job['id'])}`;
}

/**
 * Queues syncs of the chosen organization, or of all organizations if none is chosen. Returns the path of the page with the
 * jobs, or null if the chosen organization has nothing to sync.
 */
async function requestSync({ actions, reader, form }: ActionRequest): Promise<string | null> {
  const organizationId = form.get('organization_id');
  const targets = await readInstallationTargets(reader, organizationId);
  if (organizationId !== null && targets.length === 0) return null;
  const jobIds = [
    ...(await actions.requestSyncs(targets)),
    // A sync of all organizations also looks for new installations.
    ...(organizationId === null ? await actions.requestDiscovery() : []),
  ];
  return jobIds.length === 1 ? `/jobs/${jobIds[0]}` : '/jobs?trigger=person';
}

/**
 * Creates the middleware that lets only visitors pass who may press buttons that start work. Visitors who may only read get a page
 * with status 403.
 */
export function requireActingRole(responder: Responder): RequestHandler {
  return async (request, response, next) => {
    if (getVisitor(response).mayAct) return next();
    return await responder.sendMessage(request, response, 403, READ_ONLY_ACTOR);
  };
}

const READ_ONLY_ACTOR = 'You may read this console but not start work. The operator gives the role "act".';

/** Adds a POST route for each console action. Each route redirects to the page that shows the result. */
export function addActionRoutes(
  app: Express,
  readers: ReaderPool,
  createActions: CreateConsoleActions,
  responder: Responder,
): void {
  for (const [path, handleAction] of Object.entries(ACTIONS_BY_PATH)) {
    app.post(
      path,
      requireActingRole(responder),
      async (request: Request, response: Response, next: NextFunction) => {
        const actions = createActions(getVisitor(response).name);
        const action = { actions, params: getPathParameters(request), form: parseForm(request) };
        const resultPath = await readers.withReader(reader => handleAction({ ...action, reader }));
        return resultPath === null ? next() : response.redirect(303, resultPath);
      },
    );
  }
}
