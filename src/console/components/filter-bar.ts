import type { NamedChoice } from '../../query/names.js';
import { html, type Html, type HtmlContent } from './html.js';
import { TERMS } from './glossary.js';
import { capitalize } from './column-labels.js';

/** Renders a filter as a `<select>`, or as a text field if `choices` is null. */
export function renderChoice(
  name: string,
  choices: readonly NamedChoice[] | null,
  chosen: string | null,
): Html {
  // A `<select>` could not show a chosen value that is not among the choices.
  if (choices === null || (chosen && !choices.some(({ value }) => value === chosen)))
    return html`<input name="${name}" value="${chosen}">`;
  return html`<select name="${name}"><option value="">any</option>${choices.map(
    ({ value, says: label }) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${label}</option>`,
  )}</select>`;
}

interface FilterField {
  readonly label: string;
  readonly input: Html;
}

/** Renders the filters of a page as a form. `extra` comes after the Show button. */
export function renderFilterBar(
  path: string,
  fields: readonly FilterField[],
  extra: HtmlContent = null,
): Html {
  return html`<form class="filters" method="get" action="${path}" role="search" aria-label="Filters">
${fields.map(({ label, input }) => html`<label${TERMS[label] !== undefined && html` title="${TERMS[label]}"`}>${capitalize(label)}${input}</label>`)}
<button>Show</button> ${extra}</form>`;
}
