import { html, type Html } from './html.js';
import { formatDay } from './instants.js';
import type { Colour } from '../../query/freshness/describe-freshness.js';

/**
 * Renders an amber badge that says when the registry restated a retirement: changed it after its year had ended, or replaced its
 * certificate. The badge links to the list of these restatements.
 */
export function renderRestatedBadge(id: string, restatedAt: string): Html {
  const text = html`restated<span class="detail"> by the registry on ${formatDay(restatedAt)}</span>`;
  return html`<a class="state doubt" href="/restatements?id=${encodeURIComponent(id)}">${text}</a>`;
}

const GOOD_STATES = ['active', 'accepted', 'complete', 'done', 'stored'];
const DOUBTFUL_STATES = ['partial', 'paused', 'removals_unconfirmed', 'refused'];

const BAD_STATES = ['failed', 'unknown'];

/** Returns the badge colour for a state of a job, sync, delivery, certificate or installation. */
export function findStateColour(state: string): Colour {
  if (GOOD_STATES.includes(state)) return 'good';
  return DOUBTFUL_STATES.includes(state) ? 'doubt' : BAD_STATES.includes(state) ? 'bad' : 'none';
}

/** Renders a state for a table or a sentence: plain text, or a coloured badge if the state needs attention. */
export function renderState(state: string, colour = findStateColour(state)): Html {
  const needsAttention = colour === 'bad' || colour === 'doubt';
  return needsAttention ? renderBadge(state, colour) : html`${state.replaceAll('_', ' ')}`;
}

/** Renders a state as a coloured badge, such as "failed" in red. */
export function renderBadge(state: string, colour = findStateColour(state)): Html {
  return html`<span class="state ${colour}">${state.replaceAll('_', ' ')}</span>`;
}
