import { html, type Html } from '../components/html.js';

/** Does something, and is sent by a page of ours alone. Nothing where nobody may. */
export function button(
  canAct: boolean,
  path: string,
  says: string,
  values: Readonly<Record<string, string>> = {},
): Html | false {
  if (!canAct) return false;
  const hidden = Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form class="act" method="post" action="${path}">${hidden}<button>${says}</button></form>`;
}
