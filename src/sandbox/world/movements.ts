import type {
  AppRow,
  HoldingRow,
  InventoryRequestRow,
  OrganizationRow,
  Place,
  ReservationRow,
  ReservationState,
  RetirementRow,
} from '../store/rows.js';
import { oldestFirst } from '../store/tables.js';
import type { CreditPlan } from './credits.js';
import { toInstant } from '../store/clock.js';
import { historyAt, someMicro, type WorldSize } from './plan.js';
import { createRandom } from './random.js';
import type { RetirementPlan } from './retirements.js';
import { COMMENTS, REASONS } from './words.js';

const HOLD_MS = 600_000;
const MINUTE_MS = 60_000;
/** So many of the last retirements by apps show how they came about. */
export const LAST_RETIREMENTS = 10;
const ENDED = ['expired', 'cancelled', 'expired', 'cancelled', 'expired'] as const;
const OUTSTANDING_SINCE_MS = [3 * MINUTE_MS, MINUTE_MS] as const;
const UNDECIDED = ['Rejected', 'Rejected', 'Pending', 'Pending', 'Pending'] as const;
/** Undecided requests lie in the last tenth of the history. */
const RECENT = 10;

export interface Sources {
  readonly size: WorldSize;
  readonly apps: readonly AppRow[];
  readonly organizations: readonly OrganizationRow[];
  readonly credits: CreditPlan;
  readonly retirements: RetirementPlan;
}

export function planReservations(sources: Sources): ReservationRow[] {
  const { size, apps } = sources;
  const ended = ENDED.map((state, index) => {
    const createdAt = historyAt(size.seed, 'ended reservation', index, ENDED.length);
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
function movementOf({ organizationId, creditId, amountMicro, appId, createdAt }: RetirementRow) {
  return { organizationId, creditId, amountMicro, appId: appId ?? '', updatedAt: createdAt };
}

/** Every second of the last retirements by an app came out of a reservation, the others out of a request. */
function planFinished({ size, retirements }: Sources): ReservationRow[] {
  return retirements.lastByApps(LAST_RETIREMENTS).flatMap((number, index) => {
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
  { size, credits, organizations }: Sources,
  index: number,
  app: AppRow | undefined,
  state: ReservationState,
  createdAt: number,
  updatedAt: number,
): ReservationRow {
  const { organizationId, creditId } = findHolding(credits, 'warehouse', index * 5, organizations[0]);
  return {
    id: createRandom(size.seed, 'reservation', index).uuid(),
    organizationId,
    appId: app?.id ?? '',
    creditId,
    amountMicro: someMicro(size.seed, 'reservation', index, 50),
    state,
    createdAt: toInstant(createdAt),
    updatedAt: toInstant(updatedAt),
    reservedToDate: toInstant(state === 'cancelled' ? updatedAt : createdAt + HOLD_MS),
  };
}

export function planRequests(sources: Sources): InventoryRequestRow[] {
  const { retirements } = sources;
  const accepted = retirements
    .lastByApps(LAST_RETIREMENTS)
    .filter((_, index) => index % 2 === 1)
    .map((number, index) => planAccepted(sources, retirements.at(number), index));
  const undecided = UNDECIDED.map((state, index) => planUndecided(sources, state, index));
  return oldestFirst([...accepted, ...undecided]);
}

function planAccepted({ size }: Sources, retired: RetirementRow, index: number): InventoryRequestRow {
  const random = createRandom(size.seed, 'accepted request', index);
  return {
    id: random.uuid(),
    ...movementOf(retired),
    action: 'retire',
    toOrganizationId: retired.organizationId,
    toAddress: null,
    words: retired.words,
    state: 'Accepted',
    txId: `0x${random.hex(64)}`,
    createdAt: toInstant(Date.parse(retired.createdAt) - 90 * MINUTE_MS),
  };
}

function planUndecided(
  { size, apps, organizations, credits }: Sources,
  state: 'Pending' | 'Rejected',
  index: number,
): InventoryRequestRow {
  const random = createRandom(size.seed, 'undecided request', index);
  const { organizationId, creditId } = findHolding(credits, 'inventory', index * 5);
  const count = UNDECIDED.length * RECENT;
  const createdAt = historyAt(size.seed, 'undecided request', count - UNDECIDED.length + index, count);
  const receiver = organizations.filter(({ id }) => id !== organizationId)[index % 2];
  return {
    id: random.uuid(),
    organizationId,
    appId: apps[0]?.id ?? '',
    creditId,
    state,
    txId: null,
    amountMicro: someMicro(size.seed, 'undecided request', index, 40),
    action: 'transfer_retire',
    toOrganizationId: receiver?.id ?? null,
    toAddress: receiver === undefined ? `0x${random.hex(40)}` : null,
    words: {
      reason: random.pick(REASONS),
      beneficiary: (receiver ?? organizations[0])?.fullName ?? '',
      comment: random.pick(COMMENTS),
    },
    createdAt: toInstant(createdAt),
    updatedAt: toInstant(state === 'Pending' ? createdAt : createdAt + 300 * MINUTE_MS),
  };
}

/** Retirable credits only; the search goes round, so that small worlds find one too. */
function findHolding(credits: CreditPlan, place: Place, from: number, owner?: OrganizationRow): HoldingRow {
  const isMeant = (row: HoldingRow) =>
    row.place === place && (owner === undefined || row.organizationId === owner.id);
  for (let step = 0; step < credits.retirable.length; step++) {
    const index = credits.retirable[(from + step) % credits.retirable.length] ?? 0;
    const found = credits.holdings(index).find(isMeant);
    if (found !== undefined) return found;
  }
  throw new RangeError(`a world this small has no credit in a ${place}`);
}
