import type { Value } from '../../store/contract/tables.js';
import { stretch } from '../../text/stretch.js';
import { counted } from '../../text/counted.js';
import { html, type Html, type Part } from './html.js';

/** Shows how long ago it was, and holds the instant itself in UTC. */
export function ago(instant: string | null, now: number): Html {
  if (instant === null) return html`<span class="none">never</span>`;
  return html`<time datetime="${instant}" title="${instant}">${wordsAgo(instant, now)}</time>`;
}

/** The instant itself, and how long ago it was for who looks at a screen. */
export function instantAgo(instant: string, now: number): Html {
  return html`<time datetime="${instant}">${instant}</time> <span class="ago">${wordsAgo(instant, now)}</span>`;
}

function wordsAgo(instant: string, now: number): string {
  const seconds = (now - Date.parse(instant)) / 1000;
  return seconds < 0 ? `in ${stretch(-seconds)}` : `${stretch(seconds)} ago`;
}

/** A cell as it stands in the mirror. */
export function shown(value: Value | undefined): Part {
  return value instanceof Uint8Array ? counted(value.length, 'byte') : value;
}

export function badge(state: string): Html {
  return html`<span class="state ${state}">${state.replaceAll('_', ' ')}</span>`;
}
