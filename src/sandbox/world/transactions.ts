import type { InventoryRequestRow, ReservationRow, RetirementRow, TransactionRow } from '../store/rows.js';
import { createRandom } from './random.js';

interface Origins {
  readonly reservations: readonly ReservationRow[];
  readonly requests: readonly InventoryRequestRow[];
}

/** What finished reservations and accepted requests did: each ended in the retirement that was made at that instant. */
export function planTransactions(
  seed: number,
  retirements: readonly RetirementRow[],
  { reservations, requests }: Origins,
): TransactionRow[] {
  return retirements.map((retired, index) => {
    const reservation = reservations.find(row => row.state === 'finished' && endedIn(row, retired));
    const request = requests.find(row => row.state === 'Accepted' && endedIn(row, retired));
    return {
      id: createRandom(seed, 'transaction', index).uuid(),
      event: reservation === undefined ? 'organizationTransaction' : 'warehouseTransaction',
      type: 'retire',
      status: 'processed',
      organization_id: retired.organization_id,
      app_id: retired.app_id,
      receiver_id: null,
      outside: null,
      reservation_id: reservation?.id ?? null,
      request_id: request?.id ?? null,
      retirement_id: retired.id,
      words: null,
      credit_id: retired.credit_id,
      amount_micro: retired.amount_micro,
      comment: null,
      created_at: retired.created_at,
      updated_at: retired.created_at,
    };
  });
}

function endedIn(row: ReservationRow | InventoryRequestRow, retired: RetirementRow): boolean {
  return (
    row.updated_at === retired.created_at &&
    row.organization_id === retired.organization_id &&
    row.credit_id === retired.credit_id
  );
}
