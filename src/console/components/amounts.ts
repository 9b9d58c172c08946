import { html, type Html } from './html.js';

/** Renders an amount for a table column with aligned decimal points. */
export function renderTonnes(amount: string): Html {
  const [whole = '', fraction] = amount.split('.');
  return html`${whole}<i>${fraction !== undefined && `.${fraction}`}</i>`;
}
