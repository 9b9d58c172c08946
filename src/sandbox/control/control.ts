import { type Request, type RequestHandler, Router } from 'express';
import { badRequest, errorBody } from '../http/errors.js';
import type { Registry } from '../registry/registry.js';
import { type Asked, CONTROL_ROUTES } from './routes.js';

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
const FORWARDING_HEADER = /^(forwarded|via|x-forwarded(-.*)?|x-real-ip|.*-(client|connecting)-ip)$/;
/** Another port of this machine is of the same site, and not ours. */
const OF_PAGES = /^(cross|same)-site$/;
const REFUSED =
  'The control API answers only to programs on this machine, called by localhost or a loopback address';

/** No browser page, no name that was bent to this machine and no proxy may speak for the person at it. */
export const allowLoopbackOnly: RequestHandler = (req, res, next) => {
  const isForwarded = Object.keys(req.headers).some(name => FORWARDING_HEADER.test(name));
  const isFromPage = req.get('origin') !== undefined || OF_PAGES.test(req.get('sec-fetch-site') ?? '');
  const isFromHere =
    LOOPBACK.has(req.socket.remoteAddress ?? '') && LOOPBACK_HOST.test(req.get('host') ?? '');
  if (isFromHere && !isForwarded && !isFromPage) return next();
  const problem = { type: 'about:blank', title: 'Forbidden', status: 403, detail: REFUSED };
  return void res
    .status(403)
    .type('application/problem+json')
    .json({ ...problem, ...errorBody(403, REFUSED) });
};

export function createControlRoutes(registry: Registry): Router {
  const router = Router();
  for (const [route, answer] of CONTROL_ROUTES) {
    const [method = '', path = ''] = route.split(' ');
    router.all(path, (req, res, next) => {
      if (req.method !== method) return next();
      const answered = answer(registry, readAsked(req)) ?? {};
      return void res.json(Array.isArray(answered) ? { [path.slice(1)]: answered } : answered);
    });
  }
  return router;
}

function readAsked(req: Request): Asked {
  const { id } = req.params;
  return {
    id: typeof id === 'string' ? id : '',
    query: name => toText(req.query[name]),
    limit: () => readLimit(req.query['limit']),
    body: req.body,
  };
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function readLimit(value: unknown): number {
  const limit = value === undefined ? 100 : Number(value);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw badRequest('limit must be from 1 to 10000');
  return limit;
}
