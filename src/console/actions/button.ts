import { html, type Html } from '../components/html.js';

/** Renders a button that posts `fields` to `path`. Returns false if the console is read-only. */
export function renderButton(
  canAct: boolean,
  path: string,
  label: string,
  fields: Readonly<Record<string, string>> = {},
): Html | false {
  if (!canAct) return false;
  const hiddenInputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form class="act" method="post" action="${path}">${hiddenInputs}<button>${label}</button></form>`;
}
