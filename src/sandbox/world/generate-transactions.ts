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

/** Generates a transaction for each retirement, with the id of the reservation or request that led to it. */
export function generateTransactions(
  seed: number,
  retirements: readonly RetirementRecord[],
  { reservations, requests }: TransactionOrigins,
): TransactionRecord[] {
  return retirements.map((retirement, index) => {
    const reservation = reservations.find(row => row.state === 'finished' && hasLedTo(row, retirement));
    const request = requests.find(row => row.state === 'Accepted' && hasLedTo(row, retirement));
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

/** Whether a reservation or inventory request led to a retirement. */
function hasLedTo(row: ReservationRecord | InventoryRequestRecord, retirement: RetirementRecord): boolean {
  return (
    row.updatedAt === retirement.createdAt &&
    row.organizationId === retirement.organizationId &&
    row.creditId === retirement.creditId
  );
}
