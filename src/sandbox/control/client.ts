import { fetchWithoutRedirect } from '../http/fetch.js';

/**
 * Calls the control API of a sandbox and returns the JSON of the response. `path` is the part after `/_sandbox`, such as
 * `/apps`.
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

/** Creates a client for the control API of a sandbox that runs in another process on this machine. */
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

/** Returns the message of an error response. */
function readErrorMessage(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null || !('message' in answer))
    return 'The sandbox refused the call';
  const { message } = answer;
  return Array.isArray(message) ? message.join('; ') : String(message);
}
