import { type Request, type Response, Router } from 'express';
import type { Registry } from '../parts/registry.js';
import type { Caller } from '../parts/tokens.js';
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

interface Route {
  readonly route: string;
  readonly needs: Needs;
  /** JSON, a certificate, or the pieces of a JSON text that is long. */
  readonly answer: (registry: Registry, asked: Asked) => object | Buffer | Generator<string>;
}

const ORGANIZATION = '/organizations/:organizationId';
const REQUESTS = `${ORGANIZATION}/inventory/requests`;
const RESERVATIONS = `${ORGANIZATION}/warehouse/inventory/reservations`;

/** The registry's endpoints: first an app as itself, then on an organization, then what any token may see. */
export const ROUTES: readonly Route[] = [
  {
    route: 'POST /app/accessTokens',
    needs: 'an app',
    answer: ({ tokens }, { caller }) => tokens.mint(caller.appId),
  },
  {
    route: 'POST /app/installations/:id/accessTokens',
    needs: 'an app',
    answer: ({ tokens, installations }, { caller: { appId }, id }) =>
      tokens.mint(appId, installations.getActive(appId, id)),
  },
  {
    route: 'POST /app/create/user/organization',
    needs: 'an app',
    answer: ({ organizations }, { caller, body }) => organizations.createForApp(caller.appId, body),
  },
  {
    route: 'GET /app/installations',
    needs: 'an app',
    answer: ({ installations }, { caller, page }) => installations.list(caller.appId, page()),
  },
  {
    route: 'GET /app/installations/:id',
    needs: 'an app',
    answer: ({ installations }, { caller, id }) => installations.get(caller.appId, id),
  },
  {
    route: 'GET /app/organizations/:organizationId/installation',
    needs: 'an app',
    answer: ({ installations }, { caller, organizationId }) =>
      installations.ofOrganization(caller.appId, organizationId),
  },
  {
    route: 'DELETE /app/installations/token',
    needs: 'any token',
    answer: ({ tokens }, { caller }) => tokens.revoke(caller),
  },
  {
    route: `GET ${ORGANIZATION}`,
    needs: 'organization_info:read',
    answer: ({ organizations }, { organizationId }) => organizations.get(organizationId),
  },
  {
    route: `GET ${ORGANIZATION}/addresses`,
    needs: 'organization_info:read',
    answer: ({ organizations }, { organizationId }) => organizations.addresses(organizationId),
  },
  {
    route: `GET ${ORGANIZATION}/members`,
    needs: 'organization_members:read',
    answer: ({ organizations }, { organizationId }) => organizations.members(organizationId),
  },
  {
    route: `GET ${ORGANIZATION}/retirements`,
    needs: 'organization_info:read',
    answer: ({ retirements }, { organizationId, page }) => retirements.list(organizationId, page()),
  },
  {
    route: `GET ${ORGANIZATION}/retirements/:id`,
    needs: 'organization_info:read',
    answer: ({ retirements }, { organizationId, id }) => retirements.get(id, organizationId),
  },
  {
    route: `GET ${ORGANIZATION}/retirements/:id/pdf`,
    needs: 'organization_info:read',
    answer: ({ retirements }, { organizationId, id }) => retirements.certificate(id, organizationId),
  },
  {
    route: `GET ${ORGANIZATION}/friendbot`,
    needs: 'a token of it',
    answer: ({ credits }, { organizationId }) => credits.friendbot(organizationId),
  },
  {
    route: `GET ${ORGANIZATION}/warehouse/inventory`,
    needs: 'organization_warehouse:read',
    answer: ({ holdings }, { organizationId }) => holdings.list(organizationId, 'warehouse'),
  },
  {
    route: `GET ${ORGANIZATION}/inventory`,
    needs: 'organization_inventory:read',
    answer: ({ holdings }, { organizationId }) => holdings.list(organizationId, 'inventory'),
  },
  {
    route: `GET ${REQUESTS}`,
    needs: 'organization_inventory:read',
    answer: ({ requests }, { organizationId, page }) => requests.list(organizationId, page()),
  },
  {
    route: `GET ${REQUESTS}/:id`,
    needs: 'organization_inventory:read',
    answer: ({ requests }, { organizationId, id }) => requests.get(organizationId, id),
  },
  {
    route: `POST ${REQUESTS}/:action`,
    needs: 'organization_inventory:read_request',
    answer: ({ requests }, { organizationId, caller, action, body }) =>
      requests.create(organizationId, caller.appId, { action, body }),
  },
  {
    route: `GET ${RESERVATIONS}`,
    needs: 'organization_warehouse:read',
    answer: ({ reservations }, { organizationId, page }) => reservations.list(organizationId, page()),
  },
  {
    route: `POST ${RESERVATIONS}`,
    needs: 'organization_warehouse:write',
    answer: ({ reservations }, { organizationId, caller, body }) =>
      reservations.reserve(organizationId, caller.appId, body),
  },
  {
    route: `GET ${RESERVATIONS}/:id`,
    needs: 'organization_warehouse:read',
    answer: ({ reservations }, { organizationId, id }) => reservations.get(organizationId, id),
  },
  {
    route: `DELETE ${RESERVATIONS}/:id`,
    needs: 'organization_warehouse:write',
    answer: ({ reservations }, { organizationId, caller, id }) =>
      reservations.cancel(organizationId, caller.appId, id),
  },
  {
    route: `POST ${RESERVATIONS}/:id/:action`,
    needs: 'organization_warehouse:write',
    answer: ({ reservations }, { organizationId, caller, id, action, body }) =>
      reservations.finish(organizationId, caller.appId, { id, action, body }),
  },
  { route: 'GET /projects', needs: 'any token', answer: ({ projects }, { page }) => projects.list(page()) },
  {
    route: 'GET /projects/find',
    needs: 'any token',
    answer: ({ projects }, { query }) => projects.findPublic(query),
  },
  {
    route: 'GET /projects/find/project',
    needs: 'any token',
    answer: ({ projects }, { query }) => projects.findPublic(query),
  },
  {
    route: 'GET /projects/:id',
    needs: 'any token',
    answer: ({ projects }, { id }) => projects.getPublic(id),
  },
  {
    route: 'GET /retirements',
    needs: 'any token',
    answer: ({ retirements }, { query }) => retirements.find(query['id']),
  },
  {
    route: 'GET /retirements/list',
    needs: 'any token',
    answer: ({ retirements }, { query }) => retirements.everywhere(readSlice(query)),
  },
  {
    route: 'GET /carbonCredits/projects/:id',
    needs: 'any token',
    answer: ({ projects }, { id }) => projects.credits(id),
  },
  {
    route: 'GET /retirements/:id/pdf',
    needs: 'any token',
    answer: ({ retirements }, { id }) => retirements.certificate(id),
  },
];

export function createRoutes(registry: Registry): Router {
  const router = Router();
  for (const { route, needs, answer } of ROUTES) {
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
