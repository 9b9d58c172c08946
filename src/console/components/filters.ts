import type { Choice } from '../../query/names.js';
import { html, type Html, type Part } from './html.js';
import { TERMS } from './terms.js';
import { capitalized } from './words.js';

/** One of several, or any; a text where there are too many to look through, or what is asked for is none of them. */
export function choose(name: string, choices: readonly Choice[] | null, chosen: string | null): Html {
  if (choices === null || (chosen && !choices.some(({ value }) => value === chosen)))
    return html`<input name="${name}" value="${chosen}">`;
  return html`<select name="${name}"><option value="">any</option>${choices.map(
    ({ value, says }) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${says}</option>`,
  )}</select>`;
}

/** What leaves only some rows of a page. */
export function filterBar(
  path: string,
  fields: readonly (readonly [label: string, field: Html])[],
  more: Part = null,
): Html {
  return html`<form class="filters" method="get" action="${path}" role="search" aria-label="Filters">
${fields.map(([label, field]) => html`<label${TERMS[label] !== undefined && html` title="${TERMS[label]}"`}>${capitalized(label)}${field}</label>`)}
<button>Show</button> ${more}</form>`;
}
