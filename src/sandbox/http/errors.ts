import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, RequestHandler } from 'express';

/** An answer that the registry refuses with, in the registry's own shape. */
export class RegistryError extends Error {
  readonly statusCode: number;
  readonly detail: string | readonly string[];

  constructor(statusCode: number, detail: string | readonly string[]) {
    super(typeof detail === 'string' ? detail : detail.join('; '));
    this.name = 'RegistryError';
    this.statusCode = statusCode;
    this.detail = detail;
  }
}

export function badRequest(detail: string | readonly string[]): RegistryError {
  return new RegistryError(400, detail);
}

export function unauthorized(detail: string): RegistryError {
  return new RegistryError(401, detail);
}

export function forbidden(detail: string): RegistryError {
  return new RegistryError(403, detail);
}

export function notFound(detail: string): RegistryError {
  return new RegistryError(404, detail);
}

export function conflict(detail: string): RegistryError {
  return new RegistryError(409, detail);
}

/** The error that a row is missing, unless it is there. */
export function found<Row>(row: Row | undefined, what: string): Row {
  if (row === undefined) throw notFound(`${what} not found`);
  return row;
}

export function errorBody(statusCode: number, detail: string | readonly string[]) {
  return { statusCode, message: detail, error: STATUS_CODES[statusCode] ?? 'Error' };
}

export const answerUnknownPath: RequestHandler = (req, res) => {
  res.status(404).json(errorBody(404, `Cannot ${req.method} ${req.path}`));
};

export function createErrorHandler(onUnexpected: (error: unknown) => void): ErrorRequestHandler {
  return (error: unknown, _req, res, _next) => {
    const known = toRegistryError(error);
    if (known === undefined) onUnexpected(error);
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const { statusCode, detail } = known ?? new RegistryError(500, 'Unexpected fault of the sandbox');
    res.status(statusCode).json(errorBody(statusCode, detail));
  };
}

/** Express and its body parser mark what the caller did wrong with a status of 4xx. */
function toRegistryError(error: unknown): RegistryError | undefined {
  if (error instanceof RegistryError) return error;
  if (!(error instanceof Error) || !('status' in error)) return undefined;
  const { status } = error;
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  return new RegistryError(status, error.message);
}
