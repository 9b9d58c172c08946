import type { Row } from '../../store/contract/tables.js';
import {
  decodeSignedText,
  readSignedText,
  readSyncsOfJob,
  SIGNED_TEXT_REMOVED,
} from '../../query/inbox/deliveries.js';
import { DELIVERIES } from '../../query/lists/list-definitions.js';
import { readNumbered } from '../../query/lists/read-rows.js';
import { renderButton } from '../actions/button.js';
import type { ConsoleRequest, ConsolePage, PageContent } from '../page.js';
import { renderRawText, renderRowFacts } from '../components/row-facts.js';
import { renderPageHead } from '../components/detail-page.js';
import { html } from '../components/html.js';
import { toDisplayValue } from '../components/display-value.js';
import { renderBadge } from '../components/badges.js';
import { describeNotFound } from './redirect-by-id.js';
import { listChangeTexts, isCompleteOrRunning, renderDeliveryTimeline } from './delivery-timeline.js';

/** The page of a delivery: its payload, and a timeline from its arrival to the changes. */
export const DELIVERY: ConsolePage = {
  path: '/deliveries/:id',
  render: async request => {
    const delivery = await readNumbered(request.reader, DELIVERIES, request.params['id'] ?? '');
    return delivery === null
      ? describeNotFound(DELIVERIES, request.params['id'])
      : await renderDelivery(delivery, request);
  },
};

/** Renders the detail page of a webhook delivery: its timeline, its payload and the signed text. */
async function renderDelivery(delivery: Row, request: ConsoleRequest): Promise<PageContent> {
  const { reader, now } = request;
  const { id, event, organization_name: organizationName, verdict, end: result } = delivery;
  const { job_id: ownJobId, merged_into: mergedJobId } = delivery;
  const { organization_id: organizationId, job_state: jobState } = delivery;
  const jobId = mergedJobId ?? ownJobId;
  /** Empty if the delivery caused no job, or its organization is not known yet. */
  const syncs =
    typeof jobId === 'number' && typeof organizationId === 'string'
      ? await readSyncsOfJob(reader, organizationId, jobId)
      : [];
  const signedData = await readSignedText(reader, delivery);
  const title = `${String(event ?? 'Delivery')}${organizationName === null ? '' : ` of ${String(organizationName)}`}`;
  const changes = syncs.every(isCompleteOrRunning) ? listChangeTexts(syncs) : [];
  const summary = changes.length > 0 ? changes.join(', ') : result;
  const lead = html`${verdict !== 'accepted' && html`${renderBadge(String(verdict))} `}${typeof jobState === 'string' && jobState !== 'done' && html`${renderBadge(jobState)} `}Delivery ${toDisplayValue(id)}${summary !== null && html`: ${toDisplayValue(summary)}`}`;
  const body = html`${renderPageHead({ href: '/deliveries', title: 'Deliveries' }, title, lead)}
<div class="columns"><section id="life" class="card" data-live><h2>Timeline</h2>${renderDeliveryTimeline(delivery, syncs, now)}
${typeof organizationId === 'string' && renderButton(request, '/read-now', 'Read now', { organization_id: organizationId })}</section>
<div class="stack"><section id="came" class="card" data-live><h2>Payload</h2>${renderRowFacts(delivery, { now }, TECHNICAL_COLUMNS)}</section>
<section class="card"><details><summary>Technical details</summary>${renderRowFacts(delivery, { now })}</details>
${signedData === null ? html`<p>${SIGNED_TEXT_REMOVED}</p>` : renderRawText('Signed text', decodeSignedText(signedData))}</section></div></div>`;
  return { title: `Delivery ${String(id)}: ${title}`, body };
}

/** Columns shown elsewhere on the page, or under the technical details only. */
const TECHNICAL_COLUMNS =
  'id received_at signed_text_sha256 stored_text_id end verdict ignored_reason outcome secret_index job_id job_state claim started_at finished_at'.split(
    ' ',
  );
