import { PAGE_TOKEN_FIELD } from '../guard/visitor.js';
import { html, type Html } from './html.js';

/** Renders the hidden field without which the console refuses a form. */
export function renderPageToken(pageToken: string): Html {
  return html`<input type="hidden" name="${PAGE_TOKEN_FIELD}" value="${pageToken}">`;
}
