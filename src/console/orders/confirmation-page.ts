import { randomUUID } from 'node:crypto';
import { readNameOf } from '../../query/names.js';
import { formatDuration } from '../../text/duration.js';
import { formatWithCommas } from '../../text/numbers.js';
import { formatCreditType } from '../../text/tonnes.js';
import { renderLabelledValues, renderPageHead } from '../components/detail-page.js';
import { html, type Html } from '../components/html.js';
import { renderPageToken } from '../components/page-token.js';
import { getText } from '../components/table-cell.js';
import type { ConsolePage, ConsoleRequest } from '../page.js';
import { type CheckedOrder, checkOrder, ORDER_FIELDS, type OrderDraft } from './order-form.js';

/** The path of the page that asks a visitor to confirm an order. It changes nothing. */
export const CONFIRMATION_PATH = '/orders/new';

/** The form field with the key of an order. */
export const KEY_FIELD = 'key';

/** The name of each action on the page and on its button. */
export const ACTION_LABELS: Readonly<Record<OrderDraft['action'], string>> = {
  reserve: 'Reserve',
  retire: 'Retire',
  transfer: 'Transfer',
  release: 'Release',
};

/**
 * The page that shows everything about an order before it is placed. Each time it is opened, its form has a new key. Visitors who
 * may not place orders do not find it.
 */
export const CONFIRMATION: ConsolePage = {
  path: CONFIRMATION_PATH,
  parameters: ORDER_FIELDS,
  render: async request => {
    if (!request.canOrder) return { missing: 'Page not found.' };
    const checked = await checkOrder(request.reader, request.query);
    if ('fault' in checked) return checked;
    const { draft } = checked;
    const label = ACTION_LABELS[draft.action];
    const head = renderPageHead(
      { href: '/orders', title: 'Orders' },
      `${label} ${formatWithCommas(draft.amount)} t?`,
      LEADS[draft.action],
    );
    const body = html`${head}<section class="card"><h2>Check the order</h2>${await renderOrderDetails(checked, request)}
${renderConfirmForm(draft, request)}</section>`;
    return { title: `${label} credits`, body };
  },
};

const LEADS: Readonly<Record<OrderDraft['action'], string>> = {
  reserve: 'The registry holds the credits for ten minutes and then releases them.',
  retire: 'A retirement cannot be undone.',
  transfer: 'A transfer cannot be undone.',
  release: 'The credits return to the warehouse.',
};

/**
 * Renders the details of an order as a list of labelled values, such as its action, amount and receiver, for the visitor to
 * confirm.
 */
async function renderOrderDetails(
  { draft, target }: CheckedOrder,
  { reader }: ConsoleRequest,
): Promise<Html> {
  const { action, organizationId, creditId, amount, receiverId, beneficiary, reason, comment } = draft;
  const organization = (await readNameOf(reader, organizationId, null)) ?? organizationId;
  const receiver = receiverId && ((await readNameOf(reader, receiverId, null)) ?? UNKNOWN_RECEIVER);
  const secondsLeft = target['seconds_left'];
  return renderLabelledValues([
    ['Action', ACTION_LABELS[action]],
    ['Organization', html`${organization} <span class="id">${organizationId}</span>`],
    ['Project', getText(target, 'project_name') ?? getText(target, 'project_id')],
    ['Vintage', getText(target, 'vintage') ?? findVintage(getText(target, 'serialization'))],
    ['Type', formatCreditType(getText(target, 'type'))],
    ['Amount', `${formatWithCommas(amount)} t`],
    ['Credit', html`<span class="id">${creditId}</span>`],
    ['Reservation', draft.reservationId && html`<span class="id">${draft.reservationId}</span>`],
    ['Time left', action !== 'reserve' && secondsLeft !== null && formatDuration(Number(secondsLeft))],
    ['Receiver', receiverId && html`${receiver} <span class="id">${receiverId}</span>`],
    ['Beneficiary', beneficiary],
    ['Reason', reason],
    ['Comment', comment],
  ]);
}

const UNKNOWN_RECEIVER = 'An organization that the mirror does not know';

/** Returns the year at the end of a serialization, or null. */
function findVintage(serialization: string | null): string | null {
  return /-(\d{4})$/.exec(serialization ?? '')?.[1] ?? null;
}

/** Renders the form that places the order. Its hidden fields contain the order. */
function renderConfirmForm(draft: OrderDraft, { pageToken }: ConsoleRequest): Html {
  const values: Readonly<Record<(typeof ORDER_FIELDS)[number], string | null>> = {
    action: draft.action,
    organization_id: draft.organizationId,
    credit_id: draft.creditId,
    amount: draft.amount,
    reservation_id: draft.reservationId,
    receiver: draft.receiverId,
    beneficiary: draft.beneficiary,
    reason: draft.reason,
    comment: draft.comment,
  };
  const fields = Object.entries({ [KEY_FIELD]: randomUUID(), ...values }).map(
    ([name, value]) => value !== null && html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form class="act" method="post" action="/orders">${renderPageToken(pageToken)}${fields}<button class="first">${ACTION_LABELS[draft.action]}</button></form>`;
}
