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
import { oldestFirst } from '../store/tables.js';
import type { CreditGenerator } from './credits.js';
import { toInstant } from '../store/clock.js';
import { pickHistoryTime, pickAmountMicro, type WorldSize } from './world-size.js';
import { createRandom } from './random.js';
import type { RetirementGenerator } from './retirements.js';
import { COMMENTS, REASONS } from './name-lists.js';

const HOLD_MS = 600_000;
const MINUTE_MS = 60_000;
/** So many of the last retirements by apps show how they came about. */
export const EXPLAINED_RETIREMENTS = 10;
const ENDED = ['expired', 'cancelled', 'expired', 'cancelled', 'expired'] as const;
const OUTSTANDING_SINCE_MS = [3 * MINUTE_MS, MINUTE_MS] as const;
const UNDECIDED = ['Rejected', 'Rejected', 'Pending', 'Pending', 'Pending'] as const;
/** Undecided requests lie in the last tenth of the history. */
const RECENT = 10;

export interface WorldParts {
  readonly size: WorldSize;
  readonly apps: readonly AppRecord[];
  readonly organizations: readonly OrganizationRecord[];
  readonly credits: CreditGenerator;
  readonly retirements: RetirementGenerator;
}

export function generateReservations(sources: WorldParts): ReservationRecord[] {
  const { size, apps } = sources;
  const ended = ENDED.map((state, index) => {
    const createdAt = pickHistoryTime(size.seed, 'ended reservation', index, ENDED.length);
    const updatedAt = createdAt + (state === 'expired' ? HOLD_MS : 3 * MINUTE_MS);
    return planReservation(sources, index, apps[index % apps.length], state, createdAt, updatedAt);
  });
  const outstanding = OUTSTANDING_SINCE_MS.map((sinceMs, index) => {
    const createdAt = size.startAt - sinceMs;
    return planReservation(sources, ENDED.length + index, apps[0], 'outstanding', createdAt, createdAt);
  });
  return oldestFirst([...ended, ...planFinished(sources), ...outstanding]);
}

/** What an app retired, as the movement that led to it names it. */
function movementOf({ organizationId, creditId, amountMicro, appId, createdAt }: RetirementRecord) {
  return { organizationId, creditId, amountMicro, appId: appId ?? '', updatedAt: createdAt };
}

/** Every second of the last retirements by an app came out of a reservation, the others out of a request. */
function planFinished({ size, retirements }: WorldParts): ReservationRecord[] {
  return retirements.lastByApps(EXPLAINED_RETIREMENTS).flatMap((number, index) => {
    if (index % 2 === 1) return [];
    const retired = retirements.at(number);
    return [
      {
        id: createRandom(size.seed, 'finished reservation', index).uuid(),
        ...movementOf(retired),
        state: 'finished',
        createdAt: toInstant(Date.parse(retired.createdAt) - 2 * MINUTE_MS),
        reservedToDate: retired.createdAt,
      },
    ];
  });
}

function planReservation(
  { size, credits, organizations }: WorldParts,
  index: number,
  app: AppRecord | undefined,
  state: ReservationState,
  createdAt: number,
  updatedAt: number,
): ReservationRecord {
  const { organizationId, creditId } = findHolding(credits, 'warehouse', index * 5, organizations[0]);
  return {
    id: createRandom(size.seed, 'reservation', index).uuid(),
    organizationId,
    appId: app?.id ?? '',
    creditId,
    amountMicro: pickAmountMicro(size.seed, 'reservation', index, 50),
    state,
    createdAt: toInstant(createdAt),
    updatedAt: toInstant(updatedAt),
    reservedToDate: toInstant(state === 'cancelled' ? updatedAt : createdAt + HOLD_MS),
  };
}

export function generateRequests(sources: WorldParts): InventoryRequestRecord[] {
  const { retirements } = sources;
  const accepted = retirements
    .lastByApps(EXPLAINED_RETIREMENTS)
    .filter((_, index) => index % 2 === 1)
    .map((number, index) => planAccepted(sources, retirements.at(number), index));
  const undecided = UNDECIDED.map((state, index) => planUndecided(sources, state, index));
  return oldestFirst([...accepted, ...undecided]);
}

function planAccepted(
  { size }: WorldParts,
  retired: RetirementRecord,
  index: number,
): InventoryRequestRecord {
  const random = createRandom(size.seed, 'accepted request', index);
  return {
    id: random.uuid(),
    ...movementOf(retired),
    action: 'retire',
    toOrganizationId: retired.organizationId,
    toAddress: null,
    retirementDetails: retired.details,
    state: 'Accepted',
    txId: `0x${random.hex(64)}`,
    createdAt: toInstant(Date.parse(retired.createdAt) - 90 * MINUTE_MS),
  };
}

function planUndecided(
  { size, apps, organizations, credits }: WorldParts,
  state: 'Pending' | 'Rejected',
  index: number,
): InventoryRequestRecord {
  const random = createRandom(size.seed, 'undecided request', index);
  const { organizationId, creditId } = findHolding(credits, 'inventory', index * 5);
  const count = UNDECIDED.length * RECENT;
  const createdAt = pickHistoryTime(size.seed, 'undecided request', count - UNDECIDED.length + index, count);
  const receiver = organizations.filter(({ id }) => id !== organizationId)[index % 2];
  return {
    id: random.uuid(),
    organizationId,
    appId: apps[0]?.id ?? '',
    creditId,
    state,
    txId: null,
    amountMicro: pickAmountMicro(size.seed, 'undecided request', index, 40),
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

/** Retirable credits only; the search goes round, so that small worlds find one too. */
function findHolding(
  credits: CreditGenerator,
  place: HoldingPlace,
  from: number,
  owner?: OrganizationRecord,
): HoldingRecord {
  const isMeant = (row: HoldingRecord) =>
    row.place === place && (owner === undefined || row.organizationId === owner.id);
  for (let step = 0; step < credits.retirable.length; step++) {
    const index = credits.retirable[(from + step) % credits.retirable.length] ?? 0;
    const found = credits.holdings(index).find(isMeant);
    if (found !== undefined) return found;
  }
  throw new RangeError(`a world this small has no credit in a ${place}`);
}
