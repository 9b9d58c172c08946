import { STATUS_CODES, type ServerResponse } from 'node:http';

/** A refusal as RFC 9457 has it, with further members where they help. */
export function sendProblem(
  response: ServerResponse,
  status: number,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/problem+json');
  response.end(
    JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail, ...members }),
  );
}
