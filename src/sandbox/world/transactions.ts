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
      organizationId: retired.organizationId,
      appId: retired.appId,
      receiverId: null,
      outside: null,
      reservationId: reservation?.id ?? null,
      requestId: request?.id ?? null,
      retirementId: retired.id,
      words: null,
      creditId: retired.creditId,
      amountMicro: retired.amountMicro,
      comment: null,
      createdAt: retired.createdAt,
      updatedAt: retired.createdAt,
    };
  });
}

function endedIn(row: ReservationRow | InventoryRequestRow, retired: RetirementRow): boolean {
  return (
    row.updatedAt === retired.createdAt &&
    row.organizationId === retired.organizationId &&
    row.creditId === retired.creditId
  );
}
