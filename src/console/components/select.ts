import type { Choice } from '../../query/lists/choices.js';
import { html, type Html } from './html.js';

/** One of several, or any. */
export function select(name: string, choices: readonly Choice[], chosen: string | null): Html {
  return html`<select name="${name}"><option value="">any</option>${choices.map(
    ({ value, says }) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${says}</option>`,
  )}</select>`;
}
