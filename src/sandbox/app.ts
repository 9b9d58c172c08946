import express, { type Express, type RequestHandler } from 'express';
import { createInstallPage } from './http/install-page.js';
import { createRoutes } from './http/routes.js';
import { allowLoopbackOnly, createControlRoutes } from './control/control.js';
import { answerUnknownPath, createErrorHandler, RegistryError } from './http/errors.js';
import type { Registry } from './registry/registry.js';
import type { SandboxOptions } from './options.js';
import { createHeaderCheck, createPageRules, type HeaderRules } from './http/headers.js';

const MAX_BODY = '100kb';

/** The control API first; then what every call of the registry goes through, in this order. */
export function createSandboxApp(
  registry: Registry,
  rules: HeaderRules & Required<Pick<SandboxOptions, 'names'>>,
  onUnexpected: (error: unknown) => void,
): Express {
  const { store, calls, faults } = registry;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');

  app.use('/_sandbox', allowLoopbackOnly, express.json({ limit: '1mb' }));
  app.use('/_sandbox', createControlRoutes(registry));
  app.use('/_sandbox', answerUnknownPath, createErrorHandler(onUnexpected));

  app.use((_req, res, next) => {
    res.set('Date', new Date(store.clock.now()).toUTCString());
    store.endExpiredReservations();
    next();
  });
  app.use(createInstallPage(registry, rules.names));
  app.use(createPageRules(rules.prefix), calls.record, faults.apply, createHeaderCheck(rules));
  app.use(refuseOtherBodies, express.json({ limit: MAX_BODY }));
  app.use(createRoutes(registry), answerUnknownPath, createErrorHandler(onUnexpected));
  return app;
}

const refuseOtherBodies: RequestHandler = (req, _res, next) => {
  const isEmpty = req.get('content-length') === '0' && req.get('transfer-encoding') === undefined;
  if (!isEmpty && req.is('json') === false) throw new RegistryError(415, 'The body must be application/json');
  next();
};
