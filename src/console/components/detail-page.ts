import { html, type Html, type HtmlContent } from './html.js';

/** Renders the top of a detail page: a link back to the list, the title and an introductory line. */
export function renderPageHead(
  list: { readonly href: string; readonly title: string },
  title: HtmlContent,
  lead: HtmlContent,
): Html {
  return html`<div><p class="lead no-paper"><a href="${list.href}">${list.title}</a></p>
<h1 id="sentence" data-live>${title}</h1>
<p class="lead" id="lead" data-live>${lead}</p></div>`;
}

export type LabelledValue = readonly [label: HtmlContent, value: HtmlContent];

/** Renders labelled values as a card with a heading. */
export function renderCard(heading: string, values: readonly LabelledValue[]): Html {
  return html`<section class="card"><h2>${heading}</h2>${renderLabelledValues(values)}</section>`;
}

/** Renders labelled values as a definition list. Leaves out labels whose value is empty. */
export function renderLabelledValues(
  values: readonly LabelledValue[],
  extraClass: Html | false = false,
): Html {
  const filled = values.filter(([, value]) => Boolean(value));
  return html`<dl class="facts${extraClass}">${filled.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`;
}

/** An event of a timeline. */
export interface TimelineEntry {
  readonly colour: 'good' | 'doubt' | 'bad' | 'none';
  readonly title: HtmlContent;
  readonly details?: HtmlContent;
  readonly items?: readonly HtmlContent[];
}

/** Renders a timeline as an ordered list with a coloured dot for each event. */
export function renderTimeline(entries: readonly TimelineEntry[]): Html {
  return html`<ol class="timeline">${entries.map(
    ({ colour, title, details = null, items = [] }) =>
      html`<li class="${colour}">${title}${details !== null && html` <p>${details}</p>`}${items.length > 0 && html` <ul>${items.map(item => html`<li>${item}</li>`)}</ul>`}</li>\n`,
  )}</ol>`;
}
