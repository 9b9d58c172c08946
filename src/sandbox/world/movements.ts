import type {
  AppRow,
  HoldingRow,
  InventoryRequestRow,
  OrganizationRow,
  Place,
  ReservationRow,
  ReservationState,
} from '../store/rows.js';
import type { CreditPlan } from './credits.js';
import { historyAt, someMicro, toInstant, type WorldSize } from './plan.js';
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
  return inOrderOfTime([...ended, ...planFinished(sources), ...outstanding]);
}

/** Every second of the last retirements by an app came out of a reservation, the others out of a request. */
function planFinished({ size, retirements }: Sources): ReservationRow[] {
  return retirements.lastByApps(LAST_RETIREMENTS).flatMap((number, index) => {
    const { organization_id, credit_id, amount_micro, app_id, created_at } = retirements.at(number);
    if (index % 2 === 1 || app_id === null) return [];
    const createdAt = Date.parse(created_at) - 2 * MINUTE_MS;
    const id = createRandom(size.seed, 'finished reservation', index).uuid();
    return [
      {
        id,
        organization_id,
        app_id,
        credit_id,
        amount_micro,
        state: 'finished',
        created_at: toInstant(createdAt),
        updated_at: created_at,
        reserved_to_at: created_at,
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
  const { organization_id, credit_id } = findHolding(credits, 'warehouse', index * 5, organizations[0]);
  return {
    id: createRandom(size.seed, 'reservation', index).uuid(),
    organization_id,
    app_id: app?.id ?? '',
    credit_id,
    amount_micro: someMicro(size.seed, 'reservation', index, 50),
    state,
    created_at: toInstant(createdAt),
    updated_at: toInstant(updatedAt),
    reserved_to_at: toInstant(state === 'cancelled' ? updatedAt : createdAt + HOLD_MS),
  };
}

export function planRequests(sources: Sources): InventoryRequestRow[] {
  const { retirements } = sources;
  const accepted = retirements
    .lastByApps(LAST_RETIREMENTS)
    .filter((_, index) => index % 2 === 1)
    .map((number, index) => planAccepted(sources, number, index));
  const undecided = UNDECIDED.map((state, index) => planUndecided(sources, state, index));
  return inOrderOfTime([...accepted, ...undecided]);
}

function planAccepted({ size, retirements }: Sources, number: number, index: number): InventoryRequestRow {
  const { organization_id, credit_id, amount_micro, app_id, beneficiary, reason, comment, created_at } =
    retirements.at(number);
  const random = createRandom(size.seed, 'accepted request', index);
  return {
    id: random.uuid(),
    organization_id,
    app_id: app_id ?? '',
    credit_id,
    amount_micro,
    action: 'retire',
    to_organization_id: organization_id,
    to_address: null,
    reason,
    beneficiary,
    comment,
    state: 'Accepted',
    tx_id: `0x${random.hex(64)}`,
    created_at: toInstant(Date.parse(created_at) - 90 * MINUTE_MS),
    updated_at: created_at,
  };
}

function planUndecided(
  { size, apps, organizations, credits }: Sources,
  state: 'Pending' | 'Rejected',
  index: number,
): InventoryRequestRow {
  const random = createRandom(size.seed, 'undecided request', index);
  const { organization_id, credit_id } = findHolding(credits, 'inventory', index * 5);
  const count = UNDECIDED.length * RECENT;
  const createdAt = historyAt(size.seed, 'undecided request', count - UNDECIDED.length + index, count);
  const receiver = organizations.filter(({ id }) => id !== organization_id)[index % 2];
  return {
    id: random.uuid(),
    organization_id,
    app_id: apps[0]?.id ?? '',
    credit_id,
    state,
    tx_id: null,
    amount_micro: someMicro(size.seed, 'undecided request', index, 40),
    action: 'transfer_retire',
    to_organization_id: receiver?.id ?? null,
    to_address: receiver === undefined ? `0x${random.hex(40)}` : null,
    reason: random.pick(REASONS),
    beneficiary: receiver?.full_name ?? organizations[0]?.full_name ?? null,
    comment: random.pick(COMMENTS),
    created_at: toInstant(createdAt),
    updated_at: toInstant(state === 'Pending' ? createdAt : createdAt + 300 * MINUTE_MS),
  };
}

/** Retirable credits only; the search goes round, so that small worlds find one too. */
function findHolding(credits: CreditPlan, place: Place, from: number, owner?: OrganizationRow): HoldingRow {
  for (let step = 0; step < credits.retirable.length; step++) {
    const index = credits.retirable[(from + step) % credits.retirable.length] ?? 0;
    const found = credits
      .holdings(index)
      .find(
        holding => holding.place === place && (owner === undefined || holding.organization_id === owner.id),
      );
    if (found !== undefined) return found;
  }
  throw new RangeError(`a world this small has no credit in a ${place}`);
}

function inOrderOfTime<Row extends Pick<ReservationRow, 'id' | 'created_at'>>(rows: readonly Row[]): Row[] {
  return rows.toSorted((one, other) => (one.created_at + one.id < other.created_at + other.id ? -1 : 1));
}
