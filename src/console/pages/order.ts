import { ORDERS } from '../../query/lists/list-definitions.js';
import { readNumbered } from '../../query/lists/read-rows.js';
import { readReservation } from '../../query/order-targets.js';
import type { Row } from '../../store/contract/tables.js';
import { formatWithCommas } from '../../text/numbers.js';
import { renderPageHead } from '../components/detail-page.js';
import { html, type Html } from '../components/html.js';
import { renderInstantsIn } from '../components/instants.js';
import { renderRowFacts } from '../components/row-facts.js';
import { renderBadge } from '../components/badges.js';
import { getText } from '../components/table-cell.js';
import { capitalize } from '../components/column-labels.js';
import type { ConsolePage, ConsoleRequest } from '../page.js';
import { describeNotFound } from './redirect-by-id.js';

/** The page of an order: who gave it, what it asks for, its state and its result. */
export const ORDER: ConsolePage = {
  path: '/orders/:id',
  render: async request => {
    const order = await readNumbered(request.reader, ORDERS, request.params['id'] ?? '');
    if (order === null) return describeNotFound(ORDERS, request.params['id']);
    const amount = formatWithCommas(getText(order, 'amount_exact') ?? '?');
    const title = `Order ${String(order['id'])}`;
    const heading = `${title}: ${capitalize(String(order['action']))} ${amount} t`;
    const sentence = getText(order, 'result') ?? WAITING[String(order['state'])] ?? '';
    const lead = html`${renderBadge(String(order['state']))} ${renderInstantsIn(sentence)}`;
    const body = html`${renderPageHead({ href: '/orders', title: 'Orders' }, heading, lead)}
<section id="facts" class="card" data-live>${renderRowFacts(order, request, HIDDEN_COLUMNS)}${await renderReservationLink(order, request)}</section>`;
    return { title, body };
  },
};

const HIDDEN_COLUMNS = ['id', 'key', 'action', 'state', 'result', 'amount_exact'];

/** Sentences for orders without a result, by state. */
const WAITING: Readonly<Record<string, string>> = {
  waiting: 'The worker has not begun it yet. After ten minutes it is refused.',
  sending: 'The worker is calling the registry.',
};

/**
 * Renders a link to the reservation that an order created. On the page of the reservation, the visitor can retire, transfer or
 * release it. If the mirror has not read the reservation yet, says that it is being read. Returns false if the order created no
 * reservation.
 */
async function renderReservationLink(order: Row, { reader }: ConsoleRequest): Promise<Html | false> {
  const id = getText(order, 'reservation_id');
  if (order['action'] !== 'reserve' || id === null) return false;
  const reservation = await readReservation(reader, getText(order, 'organization_id') ?? '', id);
  if (reservation === null) return html`<p>The mirror reads the reservation now.</p>`;
  return html`<p class="links"><a href="/reservations/${encodeURIComponent(id)}">Retire, transfer or release the reservation</a></p>`;
}
