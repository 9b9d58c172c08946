import { fetchWithoutRedirect } from '../http/fetch.js';

/**
 * Sends a request to the control API and returns the parsed JSON response. `path` follows `/_sandbox`, such as `/apps`.
 */
export type ControlClient = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** An error response of the control API. */
export class ControlError extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.name = 'ControlError';
    this.statusCode = statusCode;
  }
}

/** Creates a client of the sandbox's control API. The client throws a `ControlError` for an error response. */
export function createControlClient(url: string, signal?: AbortSignal): ControlClient {
  const base = url.replace(/\/$/, '');
  return async (method, path, body) => {
    const response = await fetchWithoutRedirect(`${base}/_sandbox${path}`, {
      method,
      ...(signal !== undefined && { signal }),
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new ControlError(response.status, readErrorMessage(answer));
    return answer;
  };
}

/** Returns the message in the JSON of an error response. */
function readErrorMessage(responseBody: unknown): string {
  if (typeof responseBody !== 'object' || responseBody === null || !('message' in responseBody))
    return 'The sandbox refused the call';
  const { message } = responseBody;
  return Array.isArray(message) ? message.join('; ') : String(message);
}
