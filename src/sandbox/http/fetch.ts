/**
 * Sends an HTTP request. Returns a redirect as the response and never follows it. Nothing else in the sandbox sends
 * requests.
 */
export function fetchWithoutRedirect(url: string, request: RequestInit): Promise<Response> {
  return fetch(url, { ...request, redirect: 'manual' });
}
