import type {
  InventoryRequestRecord,
  ReservationRecord,
  RetirementRecord,
  TransactionRecord,
} from '../store/records.js';
import { createRandom } from './random.js';

interface TransactionOrigins {
  readonly reservations: readonly ReservationRecord[];
  readonly requests: readonly InventoryRequestRecord[];
}

/** What finished reservations and accepted requests did: each ended in the retirement that was made at that instant. */
export function generateTransactions(
  seed: number,
  retirements: readonly RetirementRecord[],
  { reservations, requests }: TransactionOrigins,
): TransactionRecord[] {
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
      externalAddress: null,
      reservationId: reservation?.id ?? null,
      requestId: request?.id ?? null,
      retirementId: retired.id,
      retirementDetails: null,
      creditId: retired.creditId,
      amountMicro: retired.amountMicro,
      comment: null,
      createdAt: retired.createdAt,
      updatedAt: retired.createdAt,
    };
  });
}

function endedIn(row: ReservationRecord | InventoryRequestRecord, retired: RetirementRecord): boolean {
  return (
    row.updatedAt === retired.createdAt &&
    row.organizationId === retired.organizationId &&
    row.creditId === retired.creditId
  );
}
