import { formatCount, formatWithCommas } from '../../text/numbers.js';
import { html, type Html } from './html.js';

/** Renders the number of certificates in each state. Each number links to the certificate list. */
export function renderCertificateCounts(counts: Readonly<Record<string, number>>, organizationId = ''): Html {
  const { unclaimed = 0, ...byState } = counts;
  const links = Object.entries(byState).map(([state, count], index) => {
    const label = html`${formatWithCommas(count)} ${state.replaceAll('_', ' ')}`;
    const query = new URLSearchParams({
      state,
      ...(organizationId && { organization_id: organizationId }),
    }).toString();
    return html`${index > 0 && ','} <a href="/certificates?${query}">${label}</a>`;
  });
  const withoutCertificate =
    unclaimed > 0 &&
    html` <span>${formatCount(unclaimed, 'retirement')} without a beneficiary ${unclaimed === 1 ? 'has' : 'have'} no certificate.</span>`;
  return html`${links.length > 0 && html`<span>Certificates:${links}</span>`}${withoutCertificate}`;
}
