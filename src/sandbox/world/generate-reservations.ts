import type {
  AppRecord,
  HoldingRecord,
  InventoryRequestRecord,
  OrganizationRecord,
  HoldingPlace,
  ReservationRecord,
  ReservationState,
  RetirementRecord,
} from '../store/records.js';
import { sortOldestFirst } from '../store/tables.js';
import type { CreditGenerator } from './generate-credits.js';
import { toInstant } from '../store/clock.js';
import { pickHistoryTime, pickAmountMicro, type CompleteWorldSpec } from './world-size.js';
import { createRandom } from './seeded-random.js';
import type { RetirementGenerator } from './generate-retirements.js';
import { COMMENTS, REASONS } from './name-lists.js';

const HOLD_MS = 600_000;
const MINUTE_MS = 60_000;
/** For how many of the latest retirements by apps a reservation or request is generated that led to it. */
export const EXPLAINED_RETIREMENTS = 10;
/** The states of the reservations that ended without a retirement. */
const ENDED_STATES = ['expired', 'cancelled', 'expired', 'cancelled', 'expired'] as const;
/** How long before the sandbox's start each outstanding reservation was made. */
const OUTSTANDING_SINCE_MS = [3 * MINUTE_MS, MINUTE_MS] as const;
/** The states of the requests that did not lead to a retirement. */
const UNACCEPTED_STATES = ['Rejected', 'Rejected', 'Pending', 'Pending', 'Pending'] as const;
/** Pending and rejected requests are made in the last one of this many parts of the history. */
const RECENT_FRACTION = 10;

/** What reservations and inventory requests are generated from. */
export interface WorldParts {
  readonly spec: CompleteWorldSpec;
  readonly apps: readonly AppRecord[];
  readonly organizations: readonly OrganizationRecord[];
  readonly credits: CreditGenerator;
  readonly retirements: RetirementGenerator;
}

/** Generates expired, cancelled, finished and outstanding reservations, oldest first. */
export function generateReservations(world: WorldParts): ReservationRecord[] {
  const { spec, apps } = world;
  const ended = ENDED_STATES.map((state, index) => {
    const createdAt = pickHistoryTime(spec.seed, 'ended reservation', index, ENDED_STATES.length);
    const updatedAt = createdAt + (state === 'expired' ? HOLD_MS : 3 * MINUTE_MS);
    return generateReservation(world, index, apps[index % apps.length], state, createdAt, updatedAt);
  });
  const outstanding = OUTSTANDING_SINCE_MS.map((sinceMs, index) => {
    const createdAt = spec.startAt - sinceMs;
    return generateReservation(
      world,
      ENDED_STATES.length + index,
      apps[0],
      'outstanding',
      createdAt,
      createdAt,
    );
  });
  return sortOldestFirst([...ended, ...generateFinishedReservations(world), ...outstanding]);
}

/** Copies the fields of a retirement that also belong to the reservation or request that led to the retirement. */
function getCommonFields({ organizationId, creditId, amountMicro, appId, createdAt }: RetirementRecord) {
  return { organizationId, creditId, amountMicro, appId: appId ?? '', updatedAt: createdAt };
}

/** Takes the ten latest retirements that apps made, and generates a finished reservation for every second of these retirements. */
function generateFinishedReservations({ spec, retirements }: WorldParts): ReservationRecord[] {
  // The other retirements came from inventory requests.
  return retirements.listAppRetirementNumbers(EXPLAINED_RETIREMENTS).flatMap((number, index) => {
    if (index % 2 === 1) return [];
    const retirement = retirements.generateRetirement(number);
    return [
      {
        id: createRandom(spec.seed, 'finished reservation', index).uuid(),
        ...getCommonFields(retirement),
        state: 'finished',
        createdAt: toInstant(Date.parse(retirement.createdAt) - 2 * MINUTE_MS),
        reservedToDate: retirement.createdAt,
      },
    ];
  });
}

/** Generates the reservation with this index. Its state must be outstanding, expired or cancelled. */
function generateReservation(
  { spec, credits, organizations }: WorldParts,
  index: number,
  app: AppRecord | undefined,
  state: ReservationState,
  createdAt: number,
  updatedAt: number,
): ReservationRecord {
  const { organizationId, creditId } = findHolding(credits, 'warehouse', index * 5, organizations[0]);
  return {
    id: createRandom(spec.seed, 'reservation', index).uuid(),
    organizationId,
    appId: app?.id ?? '',
    creditId,
    amountMicro: pickAmountMicro(spec.seed, 'reservation', index, 50),
    state,
    createdAt: toInstant(createdAt),
    updatedAt: toInstant(updatedAt),
    reservedToDate: toInstant(state === 'cancelled' ? updatedAt : createdAt + HOLD_MS),
  };
}

/** Generates accepted, rejected and pending inventory requests, oldest first. */
export function generateInventoryRequests(world: WorldParts): InventoryRequestRecord[] {
  const { retirements } = world;
  const accepted = retirements
    .listAppRetirementNumbers(EXPLAINED_RETIREMENTS)
    .filter((_, index) => index % 2 === 1)
    .map((number, index) => generateAcceptedRequest(world, retirements.generateRetirement(number), index));
  const undecided = UNACCEPTED_STATES.map((state, index) => generateUnacceptedRequest(world, state, index));
  return sortOldestFirst([...accepted, ...undecided]);
}

/** Generates the accepted inventory request that led to this retirement. */
function generateAcceptedRequest(
  { spec }: WorldParts,
  retirement: RetirementRecord,
  index: number,
): InventoryRequestRecord {
  const random = createRandom(spec.seed, 'accepted request', index);
  return {
    id: random.uuid(),
    ...getCommonFields(retirement),
    action: 'retire',
    toOrganizationId: retirement.organizationId,
    toAddress: null,
    retirementDetails: retirement.details,
    state: 'Accepted',
    txId: `0x${random.hex(64)}`,
    createdAt: toInstant(Date.parse(retirement.createdAt) - 90 * MINUTE_MS),
  };
}

/** Generates a pending or rejected inventory request to transfer and retire credits. */
function generateUnacceptedRequest(
  { spec, apps, organizations, credits }: WorldParts,
  state: 'Pending' | 'Rejected',
  index: number,
): InventoryRequestRecord {
  const random = createRandom(spec.seed, 'undecided request', index);
  const { organizationId, creditId } = findHolding(credits, 'inventory', index * 5);
  const count = UNACCEPTED_STATES.length * RECENT_FRACTION;
  const createdAt = pickHistoryTime(
    spec.seed,
    'undecided request',
    count - UNACCEPTED_STATES.length + index,
    count,
  );
  const receiver = organizations.filter(({ id }) => id !== organizationId)[index % 2];
  return {
    id: random.uuid(),
    organizationId,
    appId: apps[0]?.id ?? '',
    creditId,
    state,
    txId: null,
    amountMicro: pickAmountMicro(spec.seed, 'undecided request', index, 40),
    action: 'transfer_retire',
    toOrganizationId: receiver?.id ?? null,
    toAddress: receiver === undefined ? `0x${random.hex(40)}` : null,
    retirementDetails: {
      reason: random.pick(REASONS),
      beneficiary: (receiver ?? organizations[0])?.fullName ?? '',
      comment: random.pick(COMMENTS),
    },
    createdAt: toInstant(createdAt),
    updatedAt: toInstant(state === 'Pending' ? createdAt : createdAt + 300 * MINUTE_MS),
  };
}

/**
 * Finds a holding of a retirable credit in a warehouse or inventory, from `firstCreditIndex` on. `owner` limits the search
 * to one organization.
 */
function findHolding(
  credits: CreditGenerator,
  place: HoldingPlace,
  firstCreditIndex: number,
  owner?: OrganizationRecord,
): HoldingRecord {
  // The search wraps around, so that it succeeds in small worlds too.
  const matches = (row: HoldingRecord) =>
    row.place === place && (owner === undefined || row.organizationId === owner.id);
  for (let step = 0; step < credits.retirable.length; step++) {
    const index = credits.retirable[(firstCreditIndex + step) % credits.retirable.length] ?? 0;
    const holding = credits.generateHoldings(index).find(matches);
    if (holding !== undefined) return holding;
  }
  throw new RangeError(`a world this small has no credit in a ${place}`);
}
