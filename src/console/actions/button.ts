import { html, type Html } from '../components/html.js';

/** Renders a form with one button; false if the console is read-only. */
export function renderButton(
  canAct: boolean,
  path: string,
  label: string,
  values: Readonly<Record<string, string>> = {},
): Html | false {
  if (!canAct) return false;
  const hidden = Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form class="act" method="post" action="${path}">${hidden}<button>${label}</button></form>`;
}
