import type { Row } from '../../store/contract/tables.js';
import { readSignedText } from '../../query/inbox/deliveries-and-jobs.js';
import { DELIVERIES } from '../../query/lists/lists.js';
import { readNumbered } from '../../query/lists/read.js';
import { button } from '../actions/button.js';
import { type FollowUp, readFollowUp } from '../../query/inbox/follow-up.js';
import { type Ask, page, type Shown } from '../page.js';
import { asSent, facts } from '../components/facts.js';
import { head } from '../components/head.js';
import { html } from '../components/html.js';
import { badge, shown } from '../components/words.js';
import { life } from './life.js';

const NUMBER = /^\d{1,15}$/;

export const DELIVERY = page('/deliveries/:id', read, show);

interface Detail {
  readonly delivery: Row;
  readonly signedData: string | null;
  /** Null where it asked for nothing, or nobody knows yet whose it is. */
  readonly followUp: FollowUp | null;
}

async function read({ reader, params }: Ask): Promise<Detail | null> {
  const { id = '' } = params;
  const delivery = NUMBER.test(id) ? await readNumbered(reader, DELIVERIES, Number(id)) : null;
  if (delivery === null) return null;
  const { job_id: own, merged_into: merged, organization_id: organizationId } = delivery;
  const jobId = merged ?? own;
  const isKnown = typeof jobId === 'number' && typeof organizationId === 'string';
  const followUp = isKnown ? await readFollowUp(reader, { organizationId, jobId }) : null;
  return { delivery, signedData: await readSignedText(reader, delivery), followUp };
}

function show({ delivery, signedData, followUp }: Detail, { now, canAct }: Ask): Shown {
  const { id, event, organization_name: owner, verdict, end, installation_id: installation } = delivery;
  const title = `${String(event ?? 'Delivery')}${owner === null ? '' : ` of ${String(owner)}`}`;
  const body = html`${head(['/deliveries', 'Deliveries'], title, html`${badge(String(verdict))} Delivery ${shown(id)}${end !== null && html`: ${shown(end)}`}`)}
<div class="columns"><section id="life" class="card" data-live>${life(delivery, followUp, now)}
${installation !== null && button(canAct, `/deliveries/${String(id)}/replay`, 'Read now')}</section>
<div class="stack"><section class="card"><details open><summary>Technical</summary>${facts(delivery, { now }, WITHOUT)}</details></section>
<section class="card">${signedData === null ? html`<p>Its text is no longer kept.</p>` : asSent('The signed text', decoded(signedData))}</section></div></div>`;
  return { title: `Delivery ${String(id)}`, body };
}

/** What the timeline says. */
const WITHOUT = ['signed_text_sha256', 'stored_text_id', 'end', 'verdict', 'ignored_reason', 'outcome'];

/** What was signed is base64 of a text; where it is none, it is shown as it came. */
function decoded(signedData: string): string {
  const text = Buffer.from(signedData, 'base64').toString();
  return text.includes('\uFFFD') || text === '' ? signedData : text;
}
