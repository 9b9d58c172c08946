/**
 * The control API of the sandbox, below `/_sandbox`: what people do in the registry's pages, and what only a sandbox can
 * do, such as moving its clock. `control-routes.ts` lists the endpoints. It must answer only to programs on this machine.
 */
import { type Request, type RequestHandler, Router } from 'express';
import { isLoopbackHost, isLoopbackHostHeader } from '../../text/loopback.js';
import { badRequest, toErrorBody } from '../http/api-errors.js';
import type { SandboxRegistry } from '../registry/registry.js';
import { type ControlRequest, CONTROL_ROUTES } from './control-routes.js';

const FORWARDING_HEADER = /^(forwarded|via|x-forwarded(-.*)?|x-real-ip|.*-(client|connecting)-ip)$/;
/**
 * The values of Sec-Fetch-Site that browsers send for a page of another origin, including one on another port of this
 * machine.
 */
const OTHER_ORIGIN = /^(cross|same)-site$/;
const REFUSAL =
  'The control API answers only to programs on this machine, called by localhost or a loopback address';

/**
 * Middleware that refuses calls unless they come from a program on this machine: not from web pages, through DNS
 * rebinding or through a proxy.
 */
export const allowLoopbackOnly: RequestHandler = (req, res, next) => {
  const isForwarded = Object.keys(req.headers).some(name => FORWARDING_HEADER.test(name));
  const isFromWebPage = req.get('origin') !== undefined || OTHER_ORIGIN.test(req.get('sec-fetch-site') ?? '');
  const isFromThisMachine =
    isLoopbackHost(req.socket.remoteAddress ?? '') && isLoopbackHostHeader(req.get('host') ?? '');
  if (isFromThisMachine && !isForwarded && !isFromWebPage) return next();
  const problem = { type: 'about:blank', title: 'Forbidden', status: 403, detail: REFUSAL };
  return void res
    .status(403)
    .type('application/problem+json')
    .json({ ...problem, ...toErrorBody(403, REFUSAL) });
};

/** Creates the Express router of the control API. Tests use it to add data and cause failures. */
export function createControlRouter(registry: SandboxRegistry): Router {
  const router = Router();
  for (const [route, answer] of CONTROL_ROUTES) {
    const [method = '', path = ''] = route.split(' ');
    router.all(path, (req, res, next) => {
      if (req.method !== method) return next();
      // A list becomes the member that the path names: `GET /apps` → `{ "apps": [...] }`.
      const result = answer(registry, toControlRequest(req)) ?? {};
      return void res.json(Array.isArray(result) ? { [path.slice(1)]: result } : result);
    });
  }
  return router;
}

/** Extracts what an endpoint of the control API needs from a request: the id in the path, the query, the limit and the body. */
function toControlRequest(req: Request): ControlRequest {
  const { id } = req.params;
  return {
    id: typeof id === 'string' ? id : '',
    getQuery: name => toSingleValue(req.query[name]),
    readLimit: () => readLimit(req.query['limit']),
    body: req.body,
  };
}

/** Returns the value of a query parameter. Returns null if the parameter is absent or repeated. */
function toSingleValue(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Parses the query parameter `limit`, which is 100 by default. Throws a 400 error if it is invalid. */
function readLimit(value: unknown): number {
  const limit = value === undefined ? 100 : Number(value);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw badRequest('limit must be from 1 to 10000');
  return limit;
}
