import { formatDayOrInstant, renderInstant } from './instants.js';
import { html, type Html } from './html.js';
import { capitalize } from './column-labels.js';
import { describeDateForms } from '../../text/time-range.js';

/** URL parameter of the instant that a page shows. */
export const AS_OF = 'as-of';

/** Adds the URL parameter `as-of` to a link. Returns the link unchanged if `at` is null. */
export function withAsOf(href: string, at: string | null): string {
  return at === null ? href : `${href}${href.includes('?') ? '&' : '?'}${AS_OF}=${encodeURIComponent(at)}`;
}

/** Returns `path` with the parameters in `query`, changed by `changes`. Null removes a parameter. */
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

export interface AsOfState {
  /** Null shows the present. */
  readonly at: string | null;
  /** The current instant; its day is the example in the field. */
  readonly now: string;
  /** The typed text, if it is no date. */
  readonly invalidText?: string;
}

/** Renders the form to choose the instant that a page shows. */
export function renderAsOfBar(
  path: string,
  query: URLSearchParams,
  { at, now, invalidText }: AsOfState,
): Html {
  const today = now.slice(0, 10);
  const shownText = invalidText ?? (at === null ? null : formatDayOrInstant(at));
  const otherParameters = [...query].filter(([name]) => name !== AS_OF && name !== 'after');
  return html`<form class="asof" method="get" action="${path}" role="search" aria-label="Choose an instant">
${otherParameters.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${at !== null && html`<p role="note"><strong>Showing what the mirror had observed by ${renderInstant(at)}.</strong> <a href="${withQuery(path, query, { [AS_OF]: null, after: null })}">Back to now</a> <a href="/compare?from=${encodeURIComponent(at)}">Compare with now</a></p>`}
<label title="${capitalize(describeDateForms('end', Date.parse(today)))}">As of end of<input name="${AS_OF}" value="${shownText}"${at !== null && html` title="${at}"`} placeholder="${today}"></label><button>Show</button></form>`;
}
