import { html, type Html } from '../components/html.js';
import type { ConsoleRequest } from '../page.js';
import { renderPageToken } from '../components/page-token.js';

/** The visitor who will press a button. */
export type ButtonVisitor = Pick<ConsoleRequest, 'canAct' | 'pageToken'>;

/** Renders a button that posts `fields` to `path`. Returns false if this visitor may not act. */
export function renderButton(
  { canAct, pageToken }: ButtonVisitor,
  path: string,
  label: string,
  fields: Readonly<Record<string, string>> = {},
): Html | false {
  if (!canAct) return false;
  const hiddenInputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form class="act" method="post" action="${path}">${renderPageToken(pageToken)}${hiddenInputs}<button>${label}</button></form>`;
}
