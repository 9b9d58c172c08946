/** Sends an HTTP request. The only place in the sandbox that does. A redirect is returned as an answer, never followed. */
export function fetchWithoutRedirect(url: string, request: RequestInit): Promise<Response> {
  return fetch(url, { ...request, redirect: 'manual' });
}
