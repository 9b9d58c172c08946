import type {
  InventoryRequestRecord,
  ReservationRecord,
  RetirementRecord,
  TransactionRecord,
} from '../store/records.js';
import { createRandom } from './seeded-random.js';

/** The reservations and inventory requests that can have started a transaction. */
interface TransactionOrigins {
  readonly reservations: readonly ReservationRecord[];
  readonly requests: readonly InventoryRequestRecord[];
}

/**
 * Generates a transaction for each retirement. Each transaction names the reservation or inventory request behind the
 * retirement.
 */
export function generateTransactions(
  seed: number,
  retirements: readonly RetirementRecord[],
  { reservations, requests }: TransactionOrigins,
): TransactionRecord[] {
  return retirements.map((retirement, index) => {
    const reservation = reservations.find(
      row => row.state === 'finished' && hasLedToRetirement(row, retirement),
    );
    const request = requests.find(row => row.state === 'Accepted' && hasLedToRetirement(row, retirement));
    return {
      id: createRandom(seed, 'transaction', index).uuid(),
      event: reservation === undefined ? 'organizationTransaction' : 'warehouseTransaction',
      type: 'retire',
      status: 'processed',
      organizationId: retirement.organizationId,
      appId: retirement.appId,
      receiverId: null,
      externalAddress: null,
      reservationId: reservation?.id ?? null,
      requestId: request?.id ?? null,
      retirementId: retirement.id,
      retirementDetails: null,
      creditId: retirement.creditId,
      amountMicro: retirement.amountMicro,
      comment: null,
      createdAt: retirement.createdAt,
      updatedAt: retirement.createdAt,
    };
  });
}

/** Whether this reservation or inventory request led to the retirement. */
function hasLedToRetirement(
  row: ReservationRecord | InventoryRequestRecord,
  retirement: RetirementRecord,
): boolean {
  return (
    row.updatedAt === retirement.createdAt &&
    row.organizationId === retirement.organizationId &&
    row.creditId === retirement.creditId
  );
}
