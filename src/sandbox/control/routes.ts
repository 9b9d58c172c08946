import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Registry } from '../registry/registry.js';

/** What a call of the control API brings. */
export interface Asked {
  /** Of the path. */
  readonly id: string;
  readonly query: (name: string) => string | null;
  readonly limit: () => number;
  readonly body: unknown;
}

/** Nothing is answered as an empty object, a list in the member that its path names. */
type ControlRoute = readonly [route: string, answer: (registry: Registry, asked: Asked) => unknown];

/** What people do with a registry and its description leaves to them; then what a sandbox can and a registry cannot. */
export const CONTROL_ROUTES: readonly ControlRoute[] = [
  [
    'GET /status',
    ({ store, calls, headerPrefix, profile }) => ({
      now: store.now(),
      headerPrefix,
      profile,
      folder: realpathSync(dirname(store.file)),
      callsWithoutVersion: calls.countWithoutVersion(),
    }),
  ],
  [
    'GET /calls',
    ({ calls }, { query, limit }) =>
      calls.list({ appId: query('appId'), installationId: query('installationId'), limit: limit() }),
  ],
  ['GET /transactions', ({ transactions }, { limit }) => transactions.list(limit())],
  ['POST /transactions/:id/process', ({ transactions }, { id }) => transactions.complete(id, 'processed')],
  ['POST /transactions/:id/fail', ({ transactions }, { id }) => transactions.complete(id, 'failed')],
  ['GET /apps', ({ apps }) => apps.list()],
  ['GET /apps/:id', ({ apps }, { id }) => apps.get(id)],
  ['POST /apps', ({ apps }, { body }) => apps.register(body)],
  ['PATCH /apps/:id', ({ apps }, { id, body }) => apps.change(id, body)],
  ['POST /apps/:id/keys', ({ apps }, { id, body }) => apps.addKey(id, body)],
  ['DELETE /apps/:id/keys', ({ apps }, { id, query }) => apps.removeKey(id, query('fingerprint') ?? '')],
  ['GET /organizations', ({ organizations }) => organizations.all()],
  ['POST /organizations', ({ organizations }, { body }) => organizations.create(body)],
  ['POST /organizations/:id/claim', ({ organizations }, { id }) => organizations.claim(id)],
  ['GET /installations', ({ installations }) => installations.all()],
  ['POST /installations', ({ installations }, { body }) => installations.installAsked(body)],
  ['POST /installations/:id/uninstall', ({ installations }, { id }) => installations.uninstall(id)],
  ['POST /installations/:id/suspend', ({ installations }, { id }) => installations.suspend(id)],
  ['POST /installations/:id/unsuspend', ({ installations }, { id }) => installations.unsuspend(id)],
  [
    'POST /installations/:id/accept-permissions',
    ({ installations }, { id }) => installations.acceptPermissions(id),
  ],
  ['GET /requests', ({ requests }, { limit }) => requests.newest(limit())],
  ['POST /requests/:id/accept', ({ requests }, { id }) => requests.accept(id)],
  ['POST /requests/:id/decline', ({ requests }, { id }) => requests.decline(id)],
  ['GET /projects', ({ projects }) => projects.all()],
  ['POST /projects', ({ projects }, { body }) => projects.create(body)],
  ['PATCH /projects/:id', ({ projects }, { id, body }) => projects.change(id, body)],
  ['POST /credits', ({ credits }, { body }) => credits.issue(body)],
  ['POST /organizations/:id/deposit', ({ credits }, { id, body }) => credits.deposit(id, body)],
  ['POST /organizations/:id/withdraw', ({ credits }, { id, body }) => credits.withdraw(id, body)],
  [
    'POST /organizations/:id/retire-off-platform',
    ({ credits }, { id, body }) => credits.retireOffPlatform(id, body),
  ],
  ['PATCH /retirements/:id', ({ retirements }, { id, body }) => retirements.describe(id, body)],
  ['GET /reservations', ({ reservations }, { limit }) => reservations.newest(limit())],
  ['POST /reservations/:id/expire', ({ reservations }, { id }) => reservations.expire(id)],
  ['GET /tokens', ({ tokens }, { limit }) => tokens.newest(limit())],
  ['POST /tokens/:id/expire', ({ tokens }, { id }) => tokens.expire(id)],
  ['GET /deliveries', ({ deliveries }, { limit }) => deliveries.list(limit())],
  ['GET /deliveries/:id', ({ deliveries }, { id }) => deliveries.get(Number(id))],
  ['POST /deliveries/:id/resend', ({ deliveries }, { id }) => deliveries.resend(Number(id))],
  ['POST /deliveries/release', ({ deliveries }, { body }) => deliveries.release(body)],
  ['POST /deliveries/:id/drop', ({ deliveries }, { id }) => deliveries.drop(Number(id))],
  ['GET /webhooks', ({ deliveries }) => deliveries.behaviour()],
  ['PATCH /webhooks', ({ deliveries }, { body }) => deliveries.behave(body)],
  ['POST /clock', ({ clock }, { body }) => clock.change(body)],
  ['GET /clock', ({ clock }) => clock.show()],
  ['GET /faults', ({ faults }) => faults.list()],
  ['POST /faults', ({ faults }, { body }) => faults.add(body)],
  ['DELETE /faults/:id', ({ faults }, { id }) => faults.remove(Number(id))],
  ['DELETE /faults', ({ faults }) => faults.clear()],
];
