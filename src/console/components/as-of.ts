import { html, type Html } from './html.js';

/** The name by which an address says as of when. */
export const AS_OF = 'as-of';

/** The same instant on the next page. */
export function withAt(href: string, at: string | null): string {
  return at === null ? href : `${href}${href.includes('?') ? '&' : '?'}${AS_OF}=${encodeURIComponent(at)}`;
}

/** The address of a page whose query has these changes; null takes a name out of it. */
export function withQuery(
  path: string,
  query: URLSearchParams,
  changes: Readonly<Record<string, string | null>>,
): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  return next.size === 0 ? path : `${path}?${next.toString()}`;
}

export interface Dated {
  readonly at: string | null;
  /** What a mirror knows, it knows of today. */
  readonly now: string;
}

/** Says as of when a page is, leads back, and asks for another instant. */
export function asOfBar(path: string, query: URLSearchParams, { at, now }: Dated): Html {
  const others = [...query].filter(([name]) => name !== AS_OF && name !== 'after');
  return html`<form class="asof" method="get" action="${path}" role="search" aria-label="Choose an instant">
${others.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${at !== null && html`<p role="note"><strong>Showing what the mirror had observed by <time datetime="${at}">${at}</time>.</strong> <a href="${withQuery(path, query, { [AS_OF]: null, after: null })}">Back to now</a></p>`}
<label>As of<input name="${AS_OF}" value="${at}" placeholder="${now.slice(0, 10)}"></label><button>Show</button></form>`;
}
