import { formatWithCommas } from '../../text/numbers.js';
import { html, type Html } from './html.js';

/** Renders the number of certificates in each state. Each number links to the certificate list. */
export function renderCertificateCounts(counts: Readonly<Record<string, number>>, organizationId = ''): Html {
  const links = Object.entries(counts).map(([state, count], index) => {
    const label = html`${formatWithCommas(count)} ${state.replaceAll('_', ' ')}`;
    const query = new URLSearchParams({
      state,
      ...(organizationId && { organization_id: organizationId }),
    }).toString();
    // Unclaimed certificates have no row in the list.
    const link = state === 'unclaimed' ? label : html`<a href="/certificates?${query}">${label}</a>`;
    return html`${index > 0 && ','} ${link}`;
  });
  return html`${links.length > 0 && html`<span>Certificates:${links}</span>`}`;
}
