import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SandboxRegistry } from '../registry/registry.js';

/** A request to the control API, independent of Express. */
export interface ControlRequest {
  /** The id in the path; empty if the path has none. */
  readonly id: string;
  /** Returns a query parameter. Returns null if the parameter is absent or repeated. */
  readonly getQuery: (name: string) => string | null;
  /** Reads the query parameter `limit`. Throws a 400 error if the limit is invalid. */
  readonly readLimit: () => number;
  readonly body: unknown;
}

/** An endpoint of the control API: its method and path, and the function that returns the response's JSON. */
type ControlRoute = readonly [
  route: string,
  answer: (registry: SandboxRegistry, request: ControlRequest) => unknown,
];

/** The control API: what people do in the registry's pages, and what only a sandbox can do, such as faults. */
export const CONTROL_ROUTES: readonly ControlRoute[] = [
  [
    'GET /status',
    ({ store, calls, headerPrefix, profile }) => ({
      now: store.now(),
      headerPrefix,
      profile,
      folder: realpathSync(dirname(store.file)),
      callsWithoutVersion: calls.countCallsWithoutVersion(),
    }),
  ],
  [
    'GET /calls',
    ({ calls }, { getQuery, readLimit }) =>
      calls.list({
        appId: getQuery('appId'),
        installationId: getQuery('installationId'),
        limit: readLimit(),
      }),
  ],
  ['GET /transactions', ({ transactions }, { readLimit }) => transactions.list(readLimit())],
  ['POST /transactions/:id/process', ({ transactions }, { id }) => transactions.complete(id, 'processed')],
  ['POST /transactions/:id/fail', ({ transactions }, { id }) => transactions.complete(id, 'failed')],
  ['GET /apps', ({ apps }) => apps.list()],
  ['GET /apps/:id', ({ apps }, { id }) => apps.get(id)],
  ['POST /apps', ({ apps }, { body }) => apps.register(body)],
  ['PATCH /apps/:id', ({ apps }, { id, body }) => apps.change(id, body)],
  ['POST /apps/:id/keys', ({ apps }, { id, body }) => apps.addKey(id, body)],
  [
    'DELETE /apps/:id/keys',
    ({ apps }, { id, getQuery }) => apps.removeKey(id, getQuery('fingerprint') ?? ''),
  ],
  ['GET /organizations', ({ organizations }) => organizations.listAll()],
  ['POST /organizations', ({ organizations }, { body }) => organizations.create(body)],
  ['POST /organizations/:id/claim', ({ organizations }, { id }) => organizations.claim(id)],
  ['GET /installations', ({ installations }) => installations.listAll()],
  ['POST /installations', ({ installations }, { body }) => installations.installFromBody(body)],
  ['POST /installations/:id/uninstall', ({ installations }, { id }) => installations.uninstall(id)],
  ['POST /installations/:id/suspend', ({ installations }, { id }) => installations.suspend(id)],
  ['POST /installations/:id/unsuspend', ({ installations }, { id }) => installations.unsuspend(id)],
  [
    'POST /installations/:id/accept-permissions',
    ({ installations }, { id }) => installations.acceptPermissions(id),
  ],
  ['GET /requests', ({ requests }, { readLimit }) => requests.listNewest(readLimit())],
  ['POST /requests/:id/accept', ({ requests }, { id }) => requests.accept(id)],
  ['POST /requests/:id/decline', ({ requests }, { id }) => requests.decline(id)],
  ['GET /projects', ({ projects }) => projects.listAll()],
  ['POST /projects', ({ projects }, { body }) => projects.create(body)],
  ['PATCH /projects/:id', ({ projects }, { id, body }) => projects.change(id, body)],
  ['POST /credits', ({ credits }, { body }) => credits.issue(body)],
  ['POST /organizations/:id/deposit', ({ credits }, { id, body }) => credits.deposit(id, body)],
  ['POST /organizations/:id/withdraw', ({ credits }, { id, body }) => credits.withdraw(id, body)],
  [
    'POST /organizations/:id/retire-off-platform',
    ({ credits }, { id, body }) => credits.retireOffPlatform(id, body),
  ],
  ['PATCH /retirements/:id', ({ retirements }, { id, body }) => retirements.changeDetails(id, body)],
  ['GET /reservations', ({ reservations }, { readLimit }) => reservations.listNewest(readLimit())],
  ['POST /reservations/:id/expire', ({ reservations }, { id }) => reservations.expire(id)],
  ['GET /tokens', ({ tokens }, { readLimit }) => tokens.listNewest(readLimit())],
  ['POST /tokens/:id/expire', ({ tokens }, { id }) => tokens.expire(id)],
  ['GET /deliveries', ({ deliveries }, { readLimit }) => deliveries.list(readLimit())],
  ['GET /deliveries/:id', ({ deliveries }, { id }) => deliveries.get(Number(id))],
  ['POST /deliveries/:id/resend', ({ deliveries }, { id }) => deliveries.resend(Number(id))],
  ['POST /deliveries/release', ({ deliveries }, { body }) => deliveries.release(body)],
  ['POST /deliveries/:id/drop', ({ deliveries }, { id }) => deliveries.drop(Number(id))],
  ['GET /webhooks', ({ deliveries }) => deliveries.getSettings()],
  ['PATCH /webhooks', ({ deliveries }, { body }) => deliveries.changeSettings(body)],
  ['POST /clock', ({ clock }, { body }) => clock.change(body)],
  ['GET /clock', ({ clock }) => clock.show()],
  ['GET /faults', ({ faults }) => faults.list()],
  ['POST /faults', ({ faults }, { body }) => faults.add(body)],
  ['DELETE /faults/:id', ({ faults }, { id }) => faults.remove(Number(id))],
  ['DELETE /faults', ({ faults }) => faults.clear()],
];
