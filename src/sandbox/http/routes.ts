import { type Request, type Response, Router } from 'express';
import type { Registry } from '../registry/registry.js';
import type { Caller } from '../registry/tokens.js';
import type { Needs } from './access.js';
import { type PageQuery, readPageQuery, readSlice } from './pages.js';
import { sendCertificate, sendPieces } from './send.js';

/** What a call of the registry brings, once its caller may make it. */
interface Asked {
  readonly caller: Caller;
  readonly organizationId: string;
  readonly id: string;
  readonly action: string;
  readonly query: Request['query'];
  readonly page: () => PageQuery;
  readonly body: unknown;
}

/** Its answer is JSON, a certificate, or the pieces of a JSON text that is long. */
type Route = readonly [
  route: string,
  needs: Needs,
  answer: (registry: Registry, asked: Asked) => object | Buffer | Generator<string>,
];

const ORGANIZATION = '/organizations/:organizationId';
const REQUESTS = `${ORGANIZATION}/inventory/requests`;
const RESERVATIONS = `${ORGANIZATION}/warehouse/inventory/reservations`;

/** The registry's endpoints: first an app as itself, then on an organization, then what any token may see. */
export const ROUTES: readonly Route[] = [
  ['POST /app/accessTokens', 'an app', ({ tokens }, { caller }) => tokens.mint(caller.appId)],
  [
    'POST /app/installations/:id/accessTokens',
    'an app',
    ({ tokens, installations }, { caller: { appId }, id }) =>
      tokens.mint(appId, installations.getActive(appId, id)),
  ],
  [
    'POST /app/create/user/organization',
    'an app',
    ({ organizations }, { caller, body }) => organizations.createForApp(caller.appId, body),
  ],
  [
    'GET /app/installations',
    'an app',
    ({ installations }, { caller, page }) => installations.list(caller.appId, page()),
  ],
  [
    'GET /app/installations/:id',
    'an app',
    ({ installations }, { caller, id }) => installations.get(caller.appId, id),
  ],
  [
    'GET /app/organizations/:organizationId/installation',
    'an app',
    ({ installations }, { caller, organizationId }) =>
      installations.ofOrganization(caller.appId, organizationId),
  ],
  ['DELETE /app/installations/token', 'any token', ({ tokens }, { caller }) => tokens.revoke(caller)],
  [
    `GET ${ORGANIZATION}`,
    'organization_info:read',
    ({ organizations }, { organizationId }) => organizations.get(organizationId),
  ],
  [
    `GET ${ORGANIZATION}/addresses`,
    'organization_info:read',
    ({ organizations }, { organizationId }) => organizations.addresses(organizationId),
  ],
  [
    `GET ${ORGANIZATION}/members`,
    'organization_members:read',
    ({ organizations }, { organizationId }) => organizations.members(organizationId),
  ],
  [
    `GET ${ORGANIZATION}/retirements`,
    'organization_info:read',
    ({ retirements }, { organizationId, page }) => retirements.list(organizationId, page()),
  ],
  [
    `GET ${ORGANIZATION}/retirements/:id`,
    'organization_info:read',
    ({ retirements }, { organizationId, id }) => retirements.get(id, organizationId),
  ],
  [
    `GET ${ORGANIZATION}/retirements/:id/pdf`,
    'organization_info:read',
    ({ retirements }, { organizationId, id }) => retirements.certificate(id, organizationId),
  ],
  [
    `GET ${ORGANIZATION}/friendbot`,
    'a token of it',
    ({ credits }, { organizationId }) => credits.friendbot(organizationId),
  ],
  [
    `GET ${ORGANIZATION}/warehouse/inventory`,
    'organization_warehouse:read',
    ({ holdings }, { organizationId }) => holdings.list(organizationId, 'warehouse'),
  ],
  [
    `GET ${ORGANIZATION}/inventory`,
    'organization_inventory:read',
    ({ holdings }, { organizationId }) => holdings.list(organizationId, 'inventory'),
  ],
  [
    `GET ${REQUESTS}`,
    'organization_inventory:read',
    ({ requests }, { organizationId, page }) => requests.list(organizationId, page()),
  ],
  [
    `GET ${REQUESTS}/:id`,
    'organization_inventory:read',
    ({ requests }, { organizationId, id }) => requests.get(organizationId, id),
  ],
  [
    `POST ${REQUESTS}/:action`,
    'organization_inventory:read_request',
    ({ requests }, { organizationId, caller, action, body }) =>
      requests.create(organizationId, caller.appId, { action, body }),
  ],
  [
    `GET ${RESERVATIONS}`,
    'organization_warehouse:read',
    ({ reservations }, { organizationId, page }) => reservations.list(organizationId, page()),
  ],
  [
    `POST ${RESERVATIONS}`,
    'organization_warehouse:write',
    ({ reservations }, { organizationId, caller, body }) =>
      reservations.reserve(organizationId, caller.appId, body),
  ],
  [
    `GET ${RESERVATIONS}/:id`,
    'organization_warehouse:read',
    ({ reservations }, { organizationId, id }) => reservations.get(organizationId, id),
  ],
  [
    `DELETE ${RESERVATIONS}/:id`,
    'organization_warehouse:write',
    ({ reservations }, { organizationId, caller, id }) =>
      reservations.cancel(organizationId, caller.appId, id),
  ],
  [
    `POST ${RESERVATIONS}/:id/:action`,
    'organization_warehouse:write',
    ({ reservations }, { organizationId, caller, id, action, body }) =>
      reservations.finish(organizationId, caller.appId, { id, action, body }),
  ],
  ['GET /projects', 'any token', ({ projects }, { page }) => projects.list(page())],
  ['GET /projects/find', 'any token', ({ projects }, { query }) => projects.findPublic(query)],
  ['GET /projects/find/project', 'any token', ({ projects }, { query }) => projects.findPublic(query)],
  ['GET /projects/:id', 'any token', ({ projects }, { id }) => projects.getPublic(id)],
  ['GET /retirements', 'any token', ({ retirements }, { query }) => retirements.find(query['id'])],
  [
    'GET /retirements/list',
    'any token',
    ({ retirements }, { query }) => retirements.everywhere(readSlice(query)),
  ],
  ['GET /carbonCredits/projects/:id', 'any token', ({ projects }, { id }) => projects.credits(id)],
  ['GET /retirements/:id/pdf', 'any token', ({ retirements }, { id }) => retirements.certificate(id)],
];

export function createRoutes(registry: Registry): Router {
  const router = Router();
  for (const [route, needs, answer] of ROUTES) {
    const [method = '', path = ''] = route.split(' ');
    router.all(path, async (req, res, next) => {
      if (req.method !== method && !(req.method === 'HEAD' && method === 'GET')) return next();
      const { organizationId = '', id = '', action = '' } = textsOf(req.params);
      const caller = registry.access.admit(req, needs, organizationId);
      const { query, body } = req;
      const page = () => readPageQuery(req, res, registry.mostRows);
      await send(res, answer(registry, { caller, organizationId, id, action, query, page, body }), id);
    });
  }
  return router;
}

async function send(res: Response, answer: object, id: string): Promise<void> {
  if (Buffer.isBuffer(answer)) sendCertificate(res, id, answer);
  else if (isPieces(answer)) await sendPieces(res, answer);
  else res.json(answer);
}

function isPieces(answer: object): answer is Generator<string> {
  return Symbol.iterator in answer;
}

function textsOf(params: Request['params']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
}
