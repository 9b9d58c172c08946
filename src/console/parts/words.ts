import type { Value } from '../../engines/contract/tables.js';
import { stretch } from '../../text/stretch.js';
import { withThousands } from '../../text/thousands.js';
import { html, type Html, type Part } from './html.js';

/** Shows how long ago it was, and holds the instant itself in UTC. */
export function ago(instant: string | null, now: number): Html {
  if (instant === null) return html`<span class="none">never</span>`;
  const seconds = (now - Date.parse(instant)) / 1000;
  const said = seconds < 0 ? `in ${stretch(-seconds)}` : `${stretch(seconds)} ago`;
  return html`<time datetime="${instant}" title="${instant}">${said}</time>`;
}

/** `1 job`, `2 jobs`. */
export function counted(count: number, one: string, many = manyOf(one)): string {
  return `${withThousands(count)} ${count === 1 ? one : many}`;
}

export function manyOf(one: string): string {
  return one.endsWith('y') ? `${one.slice(0, -1)}ies` : one.endsWith('s') ? `${one}es` : `${one}s`;
}

/** A cell as it stands in the mirror. */
export function shown(value: Value | undefined): Part {
  return value instanceof Uint8Array ? counted(value.length, 'byte') : value;
}

export function badge(state: string): Html {
  return html`<span class="state ${state}">${state.replaceAll('_', ' ')}</span>`;
}
