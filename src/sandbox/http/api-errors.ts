import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, RequestHandler } from 'express';

/** An error response in the registry's format. `detail` becomes its member `message`. */
export class ApiError extends Error {
  readonly statusCode: number;
  readonly detail: string | readonly string[];

  constructor(statusCode: number, detail: string | readonly string[]) {
    super(typeof detail === 'string' ? detail : detail.join('; '));
    this.name = 'ApiError';
    this.statusCode = statusCode;
    this.detail = detail;
  }
}

/** Creates an `ApiError` with status 400. */
export function badRequest(detail: string | readonly string[]): ApiError {
  return new ApiError(400, detail);
}

/** Creates an `ApiError` with status 401. */
export function unauthorized(detail: string): ApiError {
  return new ApiError(401, detail);
}

/** Creates an `ApiError` with status 403. */
export function forbidden(detail: string): ApiError {
  return new ApiError(403, detail);
}

/** Creates an `ApiError` with status 404. */
export function notFound(detail: string): ApiError {
  return new ApiError(404, detail);
}

/** Creates an `ApiError` with status 409. */
export function conflict(detail: string): ApiError {
  return new ApiError(409, detail);
}

/** Returns the row. If there is none, throws a 404 error such as "Project not found" for the label "Project". */
export function requireFound<Row>(row: Row | undefined, label: string): Row {
  if (row === undefined) throw notFound(`${label} not found`);
  return row;
}

/** Returns the JSON body of an error response. */
export function toErrorBody(statusCode: number, detail: string | readonly string[]) {
  return { statusCode, message: detail, error: STATUS_CODES[statusCode] ?? 'Error' };
}

export const answerUnknownPath: RequestHandler = (req, res) => {
  res.status(404).json(toErrorBody(404, `Cannot ${req.method} ${req.path}`));
};

/** Creates the Express error handler. An unexpected error is reported and answered with status 500. */
export function createErrorHandler(onUnexpectedError: (error: unknown) => void): ErrorRequestHandler {
  return (error: unknown, _req, res, _next) => {
    const expected = toApiError(error);
    if (expected === undefined) onUnexpectedError(error);
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const { statusCode, detail } = expected ?? new ApiError(500, 'Unexpected error of the sandbox');
    res.status(statusCode).json(toErrorBody(statusCode, detail));
  };
}

/** Converts an error that the client caused to an `ApiError`. Returns undefined for all other errors. */
function toApiError(error: unknown): ApiError | undefined {
  // Express and its body parser give such errors a 4xx status.
  if (error instanceof ApiError) return error;
  if (!(error instanceof Error) || !('status' in error)) return undefined;
  const { status } = error;
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  return new ApiError(status, error.message);
}
