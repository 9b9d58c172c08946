import { html, type Html, type Part } from './html.js';

/** What a page is of, in one sentence, below the way back to its list and above what stands first of it. */
export function head(list: readonly [href: string, name: string], title: Part, lead: Part): Html {
  const [href, name] = list;
  return html`<div><p class="lead no-paper"><a href="${href}">${name}</a></p>
<h1 id="sentence" data-live>${title}</h1>
<p class="lead" id="lead" data-live>${lead}</p></div>`;
}

export type Fact = readonly [name: Part, value: Part];

/** Facts that belong together, under what they answer. */
export function card(question: string, facts: readonly Fact[]): Html {
  return html`<section class="card"><h2>${question}</h2>${factsOf(facts)}</section>`;
}

/** A line each; none for that of which nothing is known. */
export function factsOf(facts: readonly Fact[], kind: Html | false = false): Html {
  const known = facts.filter(([, value]) => Boolean(value));
  return html`<dl class="facts${kind}">${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** A stop of a timeline: how it went, what happened, and more about it. */
export interface Stop {
  readonly colour: 'good' | 'doubt' | 'bad' | 'none';
  readonly what: Part;
  readonly more?: Part;
  readonly each?: readonly Part[];
}

export function timeline(stops: readonly Stop[]): Html {
  return html`<ol class="timeline">${stops.map(
    ({ colour, what, more = null, each = [] }) =>
      html`<li class="${colour}">${what}${more !== null && html` <p>${more}</p>`}${each.length > 0 && html` <ul>${each.map(line => html`<li>${line}</li>`)}</ul>`}</li>\n`,
  )}</ol>`;
}
