import type { Row } from '../../store/contract/tables.js';
import { readSignedText } from '../../query/inbox/deliveries-and-jobs.js';
import { DELIVERIES } from '../../query/lists/lists.js';
import { readNumbered } from '../../query/lists/read.js';
import { button } from '../actions/button.js';
import { type FollowUp, readFollowUp } from '../../query/inbox/follow-up.js';
import { type Ask, page, type Shown } from '../page.js';
import { asSent, facts } from '../components/facts.js';
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
  const body = html`<h1 id="sentence" data-live>Delivery ${shown(delivery['id'])}: ${shown(delivery['event'])} ${badge(String(delivery['verdict']))}</h1>
<section id="life" data-live>${life(delivery, followUp)}${facts(delivery, { now }, ['signed_text_sha256', 'signed_text_id'])}</section>
${delivery['installation_id'] !== null && button(canAct, `/deliveries/${String(delivery['id'])}/replay`, 'Do again what it asked for')}
${signedData === null ? html`<p>Its text is no longer kept.</p>` : asSent('The signed text', decoded(signedData))}`;
  return { title: `Delivery ${String(delivery['id'])}`, body };
}

/** What was signed is base64 of a text; where it is none, it is shown as it came. */
function decoded(signedData: string): string {
  const text = Buffer.from(signedData, 'base64').toString();
  return text.includes('\uFFFD') || text === '' ? signedData : text;
}
