import type { NamedChoice } from '../../query/names.js';
import { html, type Html, type HtmlContent } from './html.js';
import { describeDateForms, type PeriodEdge } from '../../text/time-range.js';
import { TERMS } from './glossary.js';
import { capitalize } from './column-labels.js';

/**
 * Renders a filter as a `<select>`, or as a text field if `choices` is null or lacks the chosen value. `emptyLabel` is the label of
 * the empty choice.
 */
export function renderChoice(
  name: string,
  choices: readonly NamedChoice[] | null,
  chosen: string | null,
  emptyLabel = 'any',
): Html {
  // A `<select>` could not show a chosen value that is not among the choices.
  if (choices === null || (chosen && !choices.some(({ value }) => value === chosen)))
    return html`<input name="${name}" value="${chosen}">`;
  return html`<select name="${name}"><option value="">${emptyLabel}</option>${choices.map(
    ({ value, label }) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${label}</option>`,
  )}</select>`;
}

export interface FilterField {
  readonly label: string;
  readonly input: Html;
  /** The tooltip, if the label is not a term that the help page explains. */
  readonly title?: string;
  /** The text of the choice, if `input` consists of several labelled inputs. A click on this text opens them. */
  readonly chosen?: string;
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
function renderFilterField({ label, input, title = TERMS[label], chosen }: FilterField): Html {
  const name = capitalize(label);
  if (chosen !== undefined)
    return html`<details class="field"><summary>${name} <b>${chosen}</b></summary><div role="group" aria-label="${name}">${input}</div></details>`;
  return html`<label class="field"${title !== undefined && html` title="${title}"`}>${name}${input}</label>`;
}

/**
 * Creates a text field for a date. A period such as a day stands for its start or its end, depending on `edge`; the label says
 * which.
 */
export function createDateField(
  { query, now }: { readonly query: URLSearchParams; readonly now: number },
  name: string,
  { edge, example }: { readonly edge: PeriodEdge; readonly example: string },
): FilterField {
  return {
    label: `${name} ${edge} of`,
    title: capitalize(describeDateForms(edge, now)),
    input: html`<input name="${name}" value="${query.get(name)}" placeholder="${example}">`,
  };
}
