import type { Row } from '../../store/contract/tables.js';
import { formatReservationCommands } from '../../text/reservation-commands.js';
import { html, type Html } from '../components/html.js';
import { getText } from '../components/table-cell.js';
import type { ConsoleRequest } from '../page.js';
import { ACTION_LABELS, CONFIRMATION_PATH } from './confirmation-page.js';
import { mayEndReservation, type OrderDraft } from './order-form.js';

/**
 * Renders the terminal commands that reserve a warehouse credit. If the visitor may place orders, also renders a form that reserves
 * it.
 */
export function renderCreditActions(credit: Row, { canOrder }: ConsoleRequest): Html {
  const organizationId = getText(credit, 'organization_id') ?? '';
  const creditId = getText(credit, 'credit_id') ?? '';
  const amount = getText(credit, 'amount_exact') ?? '0';
  const form =
    canOrder &&
    renderForm('reserve', { organization_id: organizationId, credit_id: creditId }, [
      { name: 'amount', label: `Tonnes, at most ${amount}`, isRequired: true },
    ]);
  const commands = formatReservationCommands({ organizationId, creditId, amount });
  return html`${form}<details><summary>Reserve in a terminal</summary><pre>${commands.join('\n')}</pre></details>`;
}

/**
 * Renders forms to retire, transfer or release a reservation. Returns false if the visitor may not order or the mirror may
 * not end the reservation.
 */
export async function renderReservationActions(
  reservation: Row,
  { canOrder, reader }: ConsoleRequest,
): Promise<Html | false> {
  if (!canOrder || !(await mayEndReservation(reader, reservation))) return false;
  const fields = {
    organization_id: getText(reservation, 'organization_id') ?? '',
    reservation_id: getText(reservation, 'id') ?? '',
  };
  return html`${renderForm('retire', fields, [
    { name: 'beneficiary', label: 'Beneficiary', isRequired: true },
    { name: 'reason', label: 'Reason', isRequired: true },
    { name: 'comment', label: 'Comment', isRequired: false },
  ])}${renderForm('transfer', fields, [{ name: 'receiver', label: 'Receiver: name or id', isRequired: true }])}${renderForm('release', fields, [])}`;
}

interface TextField {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
}

/** Renders a form that opens the confirmation page of an order. Submitting the form places no order. */
function renderForm(
  action: OrderDraft['action'],
  fields: Readonly<Record<string, string>>,
  inputs: readonly TextField[],
): Html {
  const hidden = Object.entries({ action, ...fields }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const labels = inputs.map(
    ({ name, label, isRequired }) =>
      html`<label>${label}<input name="${name}" autocomplete="off" maxlength="256"${isRequired && html` required`}></label>`,
  );
  return html`<form class="order" method="get" action="${CONFIRMATION_PATH}">${hidden}${labels}<button>${ACTION_LABELS[action]} …</button></form>`;
}
