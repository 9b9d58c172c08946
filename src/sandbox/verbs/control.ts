import { type RequestHandler, Router } from 'express';
import { EARLIEST, LATEST } from '../store/clock.js';
import { badRequest, errorBody } from '../http/errors.js';
import type { Registry } from '../parts/registry.js';
import { readFields, refuseFaults } from '../http/validate.js';

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
const REFUSED =
  'The control API answers only to programs on this machine, called by localhost or a loopback address';

/** No browser page, no name that was bent to this machine and no proxy may speak for the person at it. */
export const allowLoopbackOnly: RequestHandler = (req, res, next) => {
  const isForwarded = req.get('x-forwarded-for') !== undefined || req.get('forwarded') !== undefined;
  const isFromPage = req.get('origin') !== undefined || req.get('sec-fetch-site') === 'cross-site';
  const isFromHere =
    LOOPBACK.has(req.socket.remoteAddress ?? '') && LOOPBACK_HOST.test(req.get('host') ?? '');
  if (isFromHere && !isForwarded && !isFromPage) return next();
  const problem = { type: 'about:blank', title: 'Forbidden', status: 403, detail: REFUSED };
  return void res
    .status(403)
    .type('application/problem+json')
    .json({ ...problem, ...errorBody(403, REFUSED) });
};

/** The human side: what people do with the registry, and what the sandbox does to its own time. */
export function createControlRoutes(registry: Registry): Router {
  const {
    apps,
    organizations,
    installations,
    credits,
    projects,
    requests,
    retirements,
    transactions,
    calls,
    store,
  } = registry;
  const router = Router();

  router.get('/status', (_req, res) => {
    res.json({ now: store.now(), callsWithoutVersion: calls.countWithoutVersion() });
  });

  router.get('/apps', (_req, res) => res.json({ apps: apps.list() }));
  router.post('/apps', (req, res) => res.json(apps.register(req.body)));
  router.get('/apps/:id', (req, res) => res.json(apps.get(req.params.id)));
  router.patch('/apps/:id', (req, res) => res.json(apps.change(req.params.id, req.body)));
  router.post('/apps/:id/keys', (req, res) => res.json(apps.addKey(req.params.id, req.body)));
  router.delete('/apps/:id/keys', (req, res) =>
    res.json(apps.removeKey(req.params.id, toText(req.query['fingerprint']) ?? '')),
  );

  router.get('/organizations', (_req, res) => res.json({ organizations: organizations.all() }));
  router.post('/organizations', (req, res) => res.json(organizations.create(req.body)));
  router.post('/organizations/:id/claim', (req, res) => res.json(organizations.claim(req.params.id)));
  router.post('/organizations/:id/deposit', (req, res) => res.json(credits.deposit(req.params.id, req.body)));
  router.post('/organizations/:id/withdraw', (req, res) =>
    res.json(credits.withdraw(req.params.id, req.body)),
  );
  router.post('/organizations/:id/retire-off-platform', (req, res) =>
    res.json(credits.retireOffPlatform(req.params.id, req.body)),
  );

  router.get('/projects', (_req, res) => res.json({ projects: projects.all() }));
  router.post('/projects', (req, res) => res.json(projects.create(req.body)));
  router.patch('/projects/:id', (req, res) => res.json(projects.change(req.params.id, req.body)));
  router.post('/credits', (req, res) => res.json(credits.issue(req.body)));
  router.patch('/retirements/:id', (req, res) => res.json(retirements.describe(req.params.id, req.body)));

  router.get('/installations', (_req, res) => res.json({ installations: installations.all() }));
  router.post('/installations', (req, res) => {
    const faults: string[] = [];
    const fields = readFields(req.body, faults);
    const [appId, organizationId] = [fields.text('appId'), fields.text('organizationId')];
    refuseFaults(faults);
    res.json(installations.install(appId, organizationId));
  });
  router.post('/installations/:id/uninstall', (req, res) => res.json(installations.uninstall(req.params.id)));
  router.post('/installations/:id/suspend', (req, res) => res.json(installations.suspend(req.params.id)));
  router.post('/installations/:id/unsuspend', (req, res) => res.json(installations.unsuspend(req.params.id)));
  router.post('/installations/:id/accept-permissions', (req, res) =>
    res.json(installations.acceptPermissions(req.params.id)),
  );

  router.get('/requests', (req, res) =>
    res.json({ creditRequests: requests.newest(toLimit(req.query['limit'])) }),
  );
  router.post('/requests/:id/accept', (req, res) => res.json(requests.accept(req.params.id)));
  router.post('/requests/:id/decline', (req, res) => res.json(requests.decline(req.params.id)));

  router.get('/transactions', (req, res) =>
    res.json({ transactions: transactions.list(toLimit(req.query['limit'])) }),
  );
  router.get('/calls', (req, res) => {
    const { appId, installationId, limit } = req.query;
    const filter = { appId: toText(appId), installationId: toText(installationId), limit: toLimit(limit) };
    res.json({ calls: calls.list(filter) });
  });

  return router;
}

/** Trouble on demand: the clock, the webhooks' way, the faults. */
export function createTroubleRoutes({ store, deliveries, faults }: Registry): Router {
  const { clock } = store;
  const router = Router();
  const showClock = () => ({ now: store.now(), isFrozen: clock.state().frozenAt !== null });

  router.get('/clock', (_req, res) => res.json(showClock()));
  router.post('/clock', (req, res) => {
    const problems: string[] = [];
    const fields = readFields(req.body, problems);
    const moveMs = fields.value('moveMs') ?? 0;
    const at = fields.optionalText('at');
    const isFrozen = fields.flag('frozen', false);
    if (typeof moveMs !== 'number' || !Number.isSafeInteger(moveMs))
      problems.push('moveMs must be a whole number');
    if (at !== null && Number.isNaN(Date.parse(at))) problems.push('at must be an instant');
    const target = (at === null ? clock.now() : Date.parse(at)) + Number(moveMs);
    if (!(target >= EARLIEST && target <= LATEST)) problems.push('the clock must stay between 2000 and 9000');
    refuseFaults(problems);
    if (fields.has('frozen') && isFrozen) clock.freeze();
    if (fields.has('frozen') && !isFrozen) clock.run();
    if (at !== null) clock.setTo(Date.parse(at));
    if (typeof moveMs === 'number') clock.move(moveMs);
    res.json(showClock());
  });

  router.get('/webhooks', (_req, res) => res.json(deliveries.behaviour()));
  router.patch('/webhooks', (req, res) => res.json(deliveries.behave(req.body)));
  router.get('/deliveries', (req, res) =>
    res.json({ deliveries: deliveries.list(toLimit(req.query['limit'])) }),
  );
  router.post('/deliveries/release', (req, res) => {
    deliveries.release(readIds(req.body));
    res.json({});
  });
  router.get('/deliveries/:id', (req, res) => res.json(deliveries.get(Number(req.params.id))));
  router.post('/deliveries/:id/resend', (req, res) => res.json(deliveries.resend(Number(req.params.id))));
  router.post('/deliveries/:id/drop', (req, res) => res.json(deliveries.drop(Number(req.params.id))));

  router.get('/faults', (_req, res) => res.json({ faults: faults.list() }));
  router.post('/faults', (req, res) => res.json(faults.add(req.body)));
  router.delete('/faults', (_req, res) => {
    faults.clear();
    res.json({});
  });
  router.delete('/faults/:id', (req, res) => {
    faults.remove(Number(req.params.id));
    res.json({});
  });

  return router;
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function toLimit(value: unknown): number {
  const limit = value === undefined ? 100 : Number(value);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw badRequest('limit must be from 1 to 10000');
  return limit;
}

function readIds(body: unknown): readonly number[] | undefined {
  if (body === undefined) return undefined;
  const faults: string[] = [];
  const ids = readFields(body, faults).value('ids');
  refuseFaults(faults);
  if (ids === undefined) return undefined;
  if (!Array.isArray(ids) || !ids.every(id => Number.isSafeInteger(id))) {
    throw badRequest('ids must be a list of delivery ids');
  }
  return ids.map(Number);
}
