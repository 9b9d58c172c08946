import { STATUS_CODES, type ServerResponse } from 'node:http';

export const PROBLEM_TYPE = 'application/problem+json';

/** Formats a JSON error response (RFC 9457). `detail` must be a fixed sentence without data of the request. */
export function formatProblem(status: number, detail: string, members: object = {}): string {
  return JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail, ...members });
}

/** Sends a JSON error response (RFC 9457) with additional headers and JSON members. */
export function sendProblem(
  response: ServerResponse,
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
  members: object = {},
): void {
  response.statusCode = status;
  response.setHeader('content-type', PROBLEM_TYPE);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(formatProblem(status, detail, members));
}
