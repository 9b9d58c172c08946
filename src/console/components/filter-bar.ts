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
    ({ value, label }) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${label}</option>`,
  )}</select>`;
}

export interface FilterField {
  readonly label: string;
  readonly input: Html;
  /** Whether `input` is several inputs that have labels of their own. */
  readonly isGroup?: boolean;
}

interface FilterBarOptions {
  /** How many filters the visitor has chosen. */
  readonly chosenCount?: number;
  /** Comes after the Show button. */
  readonly extra?: HtmlContent;
}

/** Renders the filters of a page as a form. A narrow screen shows a button that opens the form. */
export function renderFilterBar(
  path: string,
  fields: readonly FilterField[],
  { chosenCount = 0, extra = null }: FilterBarOptions = {},
): Html {
  return html`<button type="button" class="opens-filters" popovertarget="filters">Filters${chosenCount > 0 && ` (${chosenCount})`}</button>
<form id="filters" popover class="filters" method="get" action="${path}" role="search" aria-label="Filters">
${fields.map(renderFilterField)}
<button>Show</button> ${extra}</form>`;
}

/** Renders the input of a filter with its label. The tooltip explains the label. */
function renderFilterField({ label, input, isGroup = false }: FilterField): Html {
  const title = TERMS[label] !== undefined && html` title="${TERMS[label]}"`;
  if (isGroup)
    return html`<span class="field" role="group" aria-label="${capitalize(label)}"${title}>${capitalize(label)}${input}</span>`;
  return html`<label class="field"${title}>${capitalize(label)}${input}</label>`;
}
