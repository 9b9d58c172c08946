import express, { type Express, type RequestHandler } from 'express';
import { createInstallPageRouter } from './http/install-page.js';
import { createRegistryRouter } from './http/registry-routes.js';
import { allowLoopbackOnly, createControlRouter } from './control/control-router.js';
import { answerUnknownPath, createErrorHandler, ApiError } from './http/api-errors.js';
import type { SandboxRegistry } from './registry/registry.js';
import { createHeaderValidator, createCorsMiddleware, type HeaderOptions } from './http/headers.js';

const MAX_BODY_SIZE = '100kb';

interface SandboxAppOptions extends HeaderOptions {
  /** Host names at which a proxy offers the install page. */
  readonly installPageHosts: readonly string[];
}

/** Creates the Express application of the sandbox: control API, install page and registry endpoints. */
export function createSandboxApp(
  registry: SandboxRegistry,
  options: SandboxAppOptions,
  onUnexpectedError: (error: unknown) => void,
): Express {
  // The order matters: calls are logged and faults applied before headers and bodies are checked.
  const { store, calls, faults } = registry;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');

  app.use('/_sandbox', allowLoopbackOnly, express.json({ limit: '1mb' }));
  app.use('/_sandbox', createControlRouter(registry));
  app.use('/_sandbox', answerUnknownPath, createErrorHandler(onUnexpectedError));

  app.use((_req, res, next) => {
    res.set('Date', new Date(store.clock.now()).toUTCString());
    store.expireDueReservations();
    next();
  });
  app.use(createInstallPageRouter(registry, options.installPageHosts));
  app.use(
    createCorsMiddleware(options.headerPrefix),
    calls.recordCall,
    faults.applyToCall,
    createHeaderValidator(options),
  );
  app.use(refuseOtherBodies, express.json({ limit: MAX_BODY_SIZE }));
  app.use(createRegistryRouter(registry), answerUnknownPath, createErrorHandler(onUnexpectedError));
  return app;
}

/** Middleware that refuses bodies other than JSON. An empty body is allowed. */
const refuseOtherBodies: RequestHandler = (req, _res, next) => {
  const isEmpty = req.get('content-length') === '0' && req.get('transfer-encoding') === undefined;
  if (!isEmpty && req.is('json') === false) throw new ApiError(415, 'The body must be application/json');
  next();
};
