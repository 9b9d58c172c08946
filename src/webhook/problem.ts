import { STATUS_CODES, type ServerResponse } from 'node:http';

export const PROBLEM_TYPE = 'application/problem+json';

/** A refusal as RFC 9457 has it. `detail` is a fixed sentence of ours; nothing of an error or a request goes in. */
export function problemText(status: number, detail: string, members: object = {}): string {
  return JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail, ...members });
}

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
  response.end(problemText(status, detail, members));
}
