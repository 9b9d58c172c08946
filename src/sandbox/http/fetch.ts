/** Sends an HTTP request. Returns a redirect response instead of following the redirect. */
export function fetchWithoutRedirect(url: string, request: RequestInit): Promise<Response> {
  // Nothing else in the sandbox sends HTTP requests.
  return fetch(url, { ...request, redirect: 'manual' });
}
