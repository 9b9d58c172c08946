import { type Request, type Response, Router } from 'express';
import type { SandboxRegistry } from '../registry/registry.js';
import type { Caller } from '../registry/tokens.js';
import type { AccessRequirement } from './authorize.js';
import { type PageRequest, readPageRequest, readListSlice } from './paging.js';
import { sendCertificate, sendChunks } from './send-response.js';

/** An authorized request to the registry's API. */
interface RegistryCall {
  readonly caller: Caller;
  readonly organizationId: string;
  readonly id: string;
  readonly action: string;
  readonly query: Request['query'];
  /** Reads `limit` and `page` from the query. Throws a 400 error if `limit` or `page` is invalid. */
  readonly readPage: () => PageRequest;
  readonly body: unknown;
}

/**
 * An endpoint of the registry: its method and path, the required credential, and the function that returns the
 * response.
 */
type RegistryRoute = readonly [
  route: string,
  requirement: AccessRequirement,
  answer: (registry: SandboxRegistry, call: RegistryCall) => object | Buffer | Generator<string>,
];

const ORGANIZATION = '/organizations/:organizationId';
const REQUESTS = `${ORGANIZATION}/inventory/requests`;
const RESERVATIONS = `${ORGANIZATION}/warehouse/inventory/reservations`;

/** The registry's endpoints: those of an app, then of an organization, then those that any token may call. */
export const ROUTES: readonly RegistryRoute[] = [
  ['POST /app/accessTokens', 'app JWT', ({ tokens }, { caller }) => tokens.mint(caller.appId)],
  [
    'POST /app/installations/:id/accessTokens',
    'app JWT',
    ({ tokens, installations }, { caller: { appId }, id }) =>
      tokens.mint(appId, installations.getActive(appId, id)),
  ],
  [
    'POST /app/create/user/organization',
    'app JWT',
    ({ organizations }, { caller, body }) => organizations.createForApp(caller.appId, body),
  ],
  [
    'GET /app/installations',
    'app JWT',
    ({ installations }, { caller, readPage }) => installations.list(caller.appId, readPage()),
  ],
  [
    'GET /app/installations/:id',
    'app JWT',
    ({ installations }, { caller, id }) => installations.get(caller.appId, id),
  ],
  [
    'GET /app/organizations/:organizationId/installation',
    'app JWT',
    ({ installations }, { caller, organizationId }) =>
      installations.getForOrganization(caller.appId, organizationId),
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
    ({ organizations }, { organizationId }) => organizations.listAddresses(organizationId),
  ],
  [
    `GET ${ORGANIZATION}/members`,
    'organization_members:read',
    ({ organizations }, { organizationId }) => organizations.listMembers(organizationId),
  ],
  [
    `GET ${ORGANIZATION}/retirements`,
    'organization_info:read',
    ({ retirements }, { organizationId, readPage }) => retirements.list(organizationId, readPage()),
  ],
  [
    `GET ${ORGANIZATION}/retirements/:id`,
    'organization_info:read',
    ({ retirements }, { organizationId, id }) => retirements.get(id, organizationId),
  ],
  [
    `GET ${ORGANIZATION}/retirements/:id/pdf`,
    'organization_info:read',
    ({ retirements }, { organizationId, id }) => retirements.renderCertificate(id, organizationId),
  ],
  [
    `GET ${ORGANIZATION}/friendbot`,
    'organization token',
    ({ credits }, { organizationId }) => credits.friendbot(organizationId),
  ],
  [
    `GET ${ORGANIZATION}/warehouse/inventory`,
    'organization_warehouse:read',
    ({ holdings }, { organizationId }) => holdings.streamCredits(organizationId, 'warehouse'),
  ],
  [
    `GET ${ORGANIZATION}/inventory`,
    'organization_inventory:read',
    ({ holdings }, { organizationId }) => holdings.streamCredits(organizationId, 'inventory'),
  ],
  [
    `GET ${REQUESTS}`,
    'organization_inventory:read',
    ({ requests }, { organizationId, readPage }) => requests.list(organizationId, readPage()),
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
    ({ reservations }, { organizationId, readPage }) => reservations.list(organizationId, readPage()),
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
  ['GET /projects', 'any token', ({ projects }, { readPage }) => projects.list(readPage())],
  ['GET /projects/find', 'any token', ({ projects }, { query }) => projects.findPublicByCredit(query)],
  [
    'GET /projects/find/project',
    'any token',
    ({ projects }, { query }) => projects.findPublicByCredit(query),
  ],
  ['GET /projects/:id', 'any token', ({ projects }, { id }) => projects.getPublic(id)],
  ['GET /retirements', 'any token', ({ retirements }, { query }) => retirements.getByQueryId(query['id'])],
  [
    'GET /retirements/list',
    'any token',
    ({ retirements }, { query }) => retirements.listOfAllOrganizations(readListSlice(query)),
  ],
  ['GET /carbonCredits/projects/:id', 'any token', ({ projects }, { id }) => projects.summarizeIssuance(id)],
  ['GET /retirements/:id/pdf', 'any token', ({ retirements }, { id }) => retirements.renderCertificate(id)],
];

/** Creates the Express router of the registry's endpoints. The router checks each request's credential. */
export function createRegistryRouter(registry: SandboxRegistry): Router {
  const router = Router();
  for (const [route, requirement, answer] of ROUTES) {
    const [method = '', path = ''] = route.split(' ');
    router.all(path, async (req, res, next) => {
      const isHead = req.method === 'HEAD' && method === 'GET';
      if (req.method !== method && !isHead) return next();
      const { organizationId = '', id = '', action = '' } = readPathParameters(req);
      const caller = registry.access.authorize(req, requirement, organizationId);
      const { query, body } = req;
      const readPage = () => readPageRequest(req, res, registry.maxPageSize);
      await sendResult(
        res,
        answer(registry, { caller, organizationId, id, action, query, readPage, body }),
        id,
      );
    });
  }
  return router;
}

/** Sends the result of an endpoint: a PDF whose file name contains `resourceId`, JSON text in chunks, or an object as JSON. */
async function sendResult(res: Response, result: object, resourceId: string): Promise<void> {
  if (Buffer.isBuffer(result)) sendCertificate(res, resourceId, result);
  else if (isChunked(result)) await sendChunks(res, result);
  else res.json(result);
}

/** Returns whether a response is a generator of text chunks. */
function isChunked(result: object): result is Generator<string> {
  return Symbol.iterator in result;
}

/** Returns the path parameters of a request as strings. */
function readPathParameters({ params }: Request): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
}
