import type { Explanation } from '../../query/history/explanation.js';
import type { Ask } from '../page.js';
import { html, type Html } from '../components/html.js';

interface Known {
  readonly owner: string | null;
  readonly registry: string | null;
}

/** What a sheet of paper says of itself: nobody can ask it. */
export function sheet(
  { owner, registry }: Known,
  explained: Explanation,
  { now, origin, isDemo }: Ask,
): Html {
  const { at, id, organization_id: organizationId, certificate } = explained;
  const address = `${origin}/retirements/${encodeURIComponent(id)}?${new URLSearchParams({ 'as-of': at }).toString()}`;
  return html`<dl class="facts only-paper">${isDemo && html`<dt>Demo</dt><dd>This registry is made up.</dd>`}
<dt>Organization</dt><dd>${owner ?? organizationId}</dd><dt>Registry</dt><dd>${registry ?? 'not known'}</dd>
<dt>Kept by</dt><dd>carbon-mirror</dd><dt>As of</dt><dd>${at}</dd><dt>Printed</dt><dd>${new Date(now).toISOString()}</dd>
${certificate !== null && html`<dt>Certificate</dt><dd>SHA-256 ${certificate.sha256}</dd>`}<dt>Address</dt><dd>${address}</dd></dl>`;
}
