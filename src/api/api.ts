/** The HTTP API for other programs: read-only, with a token in the Authorization header. */
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { addCertificateRoute, type OpenPdf } from './certificate-route.js';
import { addChangeRoute } from './change-route.js';
import type { ChangePoller } from './change-poller.js';
import type { ApiContext } from './api-context.js';
import { allowOrigins } from './cors.js';
import { addCompareRoute } from './compare-route.js';
import { addListRoutes } from './list-routes.js';
import { createOpenApiDocument } from './openapi.js';
import { parseParameters } from './parameters.js';
import { ApiProblem, createBadRequest } from './problem.js';
import { sendJson } from './respond.js';
import { addSummaryRoutes } from './summary-routes.js';

export interface ApiOptions extends ApiContext {
  readonly openPdf: OpenPdf;
  readonly poller: ChangePoller;
  /** The origins whose pages may call the API with a token. Empty allows none. */
  readonly corsOrigins: readonly string[];
  readonly version: string;
  /** Reports an unexpected error. The client sees a general sentence only. */
  readonly onFailure: (error: unknown) => void;
}

const HEADERS = {
  'cache-control': 'private, no-cache',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};
const URL_PATH = /^\/[\x21-\x7e]*$/;
const MAX_URL_LENGTH = 8_192;

/** Creates the Express app of the HTTP API. */
export function createApi(options: ApiOptions): Express {
  const { corsOrigins, version, poller, openPdf, onFailure } = options;
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false).set('case sensitive routing', true);
  app.use((request, response, next) => {
    response.set(HEADERS);
    if (!URL_PATH.test(request.url) || !URL.canParse(request.url, 'http://localhost'))
      throw createBadRequest('Expected the path of a resource, such as /v1/retirements.');
    if (request.url.length > MAX_URL_LENGTH)
      throw new ApiProblem(414, `Expected a URL of at most ${MAX_URL_LENGTH} characters.`);
    next();
  });
  app.use(allowOrigins(corsOrigins));
  app.use((request, _response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new ApiProblem(405, 'Expected GET. The API changes nothing.', {
        headers: { allow: 'GET, HEAD' },
      });
    next();
  });
  const document = JSON.stringify(createOpenApiDocument(version));
  // The document needs no token, because tools read it before a token exists. It describes the program and no data.
  app.get('/v1/openapi.json', async (request, response) => {
    parseParameters(request, []);
    await sendJson(request, response, document);
  });
  addSummaryRoutes(app, options);
  addCompareRoute(app, options);
  addChangeRoute(app, options, poller);
  addCertificateRoute(app, options, openPdf);
  addListRoutes(app, options);
  app.use(async (request: Request) => {
    // An unknown path says nothing to those without a token.
    await options.authenticator.authenticate(request);
    throw new ApiProblem(404, 'There is no such resource. GET /v1/openapi.json describes all.');
  });
  app.use(createErrorHandler(onFailure));
  return app;
}

/** Creates the Express error handler, which sends errors as problems. Reports errors with a 5xx status to `onFailure`. */
function createErrorHandler(onFailure: ApiOptions['onFailure']): ErrorRequestHandler {
  return (error: unknown, _request: Request, response: Response, _next) => {
    if (response.destroyed) return;
    const problem = toProblem(error);
    if (problem.status >= 500) onFailure(error);
    if (response.headersSent) response.destroy();
    else problem.send(response);
  };
}

/**
 * Converts an error to the problem that the client receives. An error of the store becomes a 503 problem. An error with a 4xx
 * status, which Express throws for a malformed path, becomes a 400 problem. Any other error becomes a 500 problem.
 */
function toProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  if (error instanceof Error && error.name === 'StoreError')
    return new ApiProblem(503, 'The database cannot be read at present.', {
      headers: { 'retry-after': '5' },
    });
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 0;
  if (status >= 400 && status < 500) return createBadRequest('The request could not be read.');
  return new ApiProblem(500, 'The request could not be answered. The log of the API has the reason.');
}
