/** The sandbox's one way out. A redirect is an answer like any other: it is never followed. */
export function call(url: string, request: RequestInit): Promise<Response> {
  return fetch(url, { ...request, redirect: 'manual' });
}
