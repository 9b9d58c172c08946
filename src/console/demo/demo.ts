import { ALL_CHANGES, readNewest } from '../../query/past/changes.js';
import type { Shown } from '../page.js';
import { button } from '../acts/button.js';
import { sentences } from '../parts/changes.js';
import { html } from '../parts/html.js';
import { ago } from '../parts/words.js';
import type { Reader } from '../../engines/contract/reader.js';

/** What a visitor may do at a made-up registry, handed in by who knows it. Nothing of it touches a real one. */
export interface Deed {
  /** As it stands in an address. */
  readonly name: string;
  readonly says: string;
  /** What comes of it. */
  readonly shows: string;
  /** Answers a sentence of what was done; throws where the registry refused. */
  readonly run: (reader: Reader) => Promise<string>;
}

export interface Done {
  readonly at: string;
  readonly says: string;
}

const CHANGES = 12;

export async function showDemo(
  reader: Reader,
  deeds: readonly Deed[],
  done: readonly Done[],
  now: number,
): Promise<Shown> {
  const changes = await readNewest(reader, ALL_CHANGES, null, CHANGES);
  const body = html`<h1>Play registry, and watch the mirror follow.</h1>
<p>The registry of this demo is made up and runs on this machine. What you do here is done there; what comes of it here is the mirror's own work.</p>
<ul class="deeds">${deeds.map(
    ({ name, says, shows }) => html`<li>${button(true, `/demo/${name}`, says)} ${shows}</li>`,
  )}</ul>
<section id="done" data-live>${
    done.length > 0 &&
    html`<h2>What you did</h2><ul>${done.map(each => html`<li>${ago(each.at, now)}: ${each.says}</li>`)}</ul>`
  }</section>
<section id="moved" data-live>${sentences('What the mirror learnt last', changes, now)}</section>`;
  return { title: 'Demo', body };
}
