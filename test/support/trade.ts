import type { Credit, Reservation, Retirement } from '../../src/registry/object-models.js';
import { type TestMirror, MINUTE } from './mirror/open.js';
import { amount, credit, installation, retirement } from './mirror/rows.js';
import { reservation } from './reservation.js';
import { createRandom, pick } from './random.js';

type TradePlace = 'warehouse' | 'inventory';

interface TradeReservation {
  readonly id: string;
  readonly organizationId: string;
  readonly creditId: string;
  readonly micro: bigint;
  readonly createdAt: string;
  updatedAt: string;
  expiresAt: string;
  state: 'outstanding' | 'cancelled' | 'finished' | 'expired';
}

/** The registry that the trade happens in. */
interface TradeWorld {
  readonly random: () => number;
  readonly creditIds: readonly string[];
  /** Amounts in millionths of a tonne. The key is the JSON of organization, place and credit. */
  readonly stock: Map<string, bigint>;
  readonly reservations: TradeReservation[];
  readonly retirements: Retirement[];
  /** Whether answers show the state of a reservation. The documented registry shows none. */
  readonly hasState: boolean;
}

/** A made-up registry whose credits move, with a mirror that can read it. */
export interface Trade {
  /** Moves, reserves and retires credits at the registry this many times. The mirror reads nothing meanwhile. */
  readonly playMoves: (times: number) => void;
  /** Reads all lists of one organization into the mirror. */
  readonly readOrganization: (organizationId: string) => Promise<void>;
  /** Lets the time of every limited reservation pass. */
  readonly expireReservations: () => void;
  /** Sums what is reserved at the registry, in millionths of a tonne. */
  readonly sumReserved: () => bigint;
  readonly organizations: readonly string[];
}

const ORGANIZATIONS = ['organization-1', 'organization-2', 'organization-3'];
const NEVER = '2999-01-01T00:00:00.000Z';
const RESERVATION_MS = 10 * MINUTE;

/** Creates a registry with random stock. Credits change only by movements that the registry's lists show. */
export async function createTrade(
  stage: TestMirror,
  seed: number,
  credits: number,
  hasState: boolean,
): Promise<Trade> {
  const random = createRandom(seed);
  const creditIds = Array.from({ length: credits }, (_, index) => `c-${index}`);
  const world: TradeWorld = {
    random,
    creditIds,
    stock: new Map(),
    reservations: [],
    retirements: [],
    hasState,
  };
  for (const creditId of creditIds) {
    addCredits(
      world,
      pick(random, ORGANIZATIONS, ''),
      pick(random, ['warehouse', 'inventory'], 'inventory'),
      creditId,
      pickAmountMicro(random),
    );
  }
  for (const organizationId of ORGANIZATIONS.slice(1)) await install(stage, organizationId);
  return {
    organizations: ORGANIZATIONS,
    playMoves: times => {
      for (let time = 0; time < times; time += 1) {
        stage.clock.at += 1 + Math.floor(random() * MINUTE);
        expireDue(world, stage.clock.at);
        pick(random, MOVES, retire)(world, new Date(stage.clock.at).toISOString());
      }
    },
    readOrganization: organizationId => readOrganization(stage, world, organizationId),
    expireReservations: () => {
      stage.clock.at += RESERVATION_MS;
      expireDue(world, stage.clock.at);
    },
    sumReserved: () =>
      world.reservations.reduce((sum, { state, micro }) => (state === 'outstanding' ? sum + micro : sum), 0n),
  };
}

type Move = (world: TradeWorld, at: string) => void;

const MOVES: readonly Move[] = [
  transfer,
  depositOrWithdraw,
  reserve,
  reserve,
  reserve,
  endReservation,
  endReservation,
  retire,
];

function transfer({ random, ...world }: TradeWorld): void {
  const [from, to] = [0, 1].map(() => pick(random, ORGANIZATIONS, ''));
  takeCredits({ random, ...world }, from ?? '', 'inventory', (creditId, micro) =>
    addCredits({ random, ...world }, to ?? '', 'inventory', creditId, micro),
  );
}

/** Moves credits between the warehouse and the inventory of one organization. */
function depositOrWithdraw(world: TradeWorld): void {
  const organizationId = pick(world.random, ORGANIZATIONS, '');
  const isOut = world.random() < 0.5;
  takeCredits(world, organizationId, isOut ? 'warehouse' : 'inventory', (creditId, micro) =>
    addCredits(world, organizationId, isOut ? 'inventory' : 'warehouse', creditId, micro),
  );
}

function reserve(world: TradeWorld, at: string): void {
  const organizationId = pick(world.random, ORGANIZATIONS, '');
  takeCredits(world, organizationId, 'warehouse', (creditId, micro) => {
    world.reservations.push({
      id: `h-${world.reservations.length}`,
      organizationId,
      creditId,
      micro,
      createdAt: at,
      updatedAt: at,
      expiresAt: world.random() < 0.5 ? NEVER : new Date(Date.parse(at) + RESERVATION_MS).toISOString(),
      state: 'outstanding',
    });
  });
}

/** Expires the reservations whose time has passed, which returns their credits. */
function expireDue(world: TradeWorld, now: number): void {
  for (const candidate of world.reservations) {
    if (candidate.state !== 'outstanding' || Date.parse(candidate.expiresAt) > now) continue;
    candidate.state = 'expired';
    candidate.updatedAt = candidate.expiresAt;
    addCredits(world, candidate.organizationId, 'warehouse', candidate.creditId, candidate.micro);
  }
}

/** Ends a reservation: cancels it, or retires its credits for a buyer. */
function endReservation(world: TradeWorld, at: string): void {
  const open = world.reservations.filter(({ state }) => state === 'outstanding');
  const ended = open[Math.floor(world.random() * open.length)];
  if (ended === undefined) return;
  const isSold = world.random() < 0.5;
  ended.state = isSold ? 'finished' : 'cancelled';
  ended.updatedAt = at;
  if (isSold) recordRetirement(world, pick(world.random, ORGANIZATIONS, ''), ended.creditId, ended.micro, at);
  else {
    ended.expiresAt = at;
    addCredits(world, ended.organizationId, 'warehouse', ended.creditId, ended.micro);
  }
}

function retire(world: TradeWorld, at: string): void {
  const organizationId = pick(world.random, ORGANIZATIONS, '');
  takeCredits(world, organizationId, 'inventory', (creditId, micro) =>
    recordRetirement(world, organizationId, creditId, micro, at),
  );
}

function recordRetirement(
  { retirements }: TradeWorld,
  organizationId: string,
  creditId: string,
  micro: bigint,
  at: string,
) {
  const serialization = `ICR-${creditId}-2021`;
  const details = {
    organizationId,
    amount: amount(tonnes(micro)),
    createdAt: at,
    serialization,
    project: projectOf(creditId),
  };
  retirements.push(retirement(`r-${retirements.length}`, details));
}

function addCredits(
  { stock }: TradeWorld,
  organizationId: string,
  place: TradePlace,
  creditId: string,
  micro: bigint,
): void {
  const key = JSON.stringify([organizationId, place, creditId]);
  stock.set(key, (stock.get(key) ?? 0n) + micro);
}

/** How many credits are tried until one is found that the organization holds. */
const TRIES = 30;

/** Removes a random part of a random credit and passes it on. Does nothing if it finds none. */
function takeCredits(
  { random, stock, creditIds }: TradeWorld,
  organizationId: string,
  place: TradePlace,
  onTaken: (creditId: string, micro: bigint) => void,
): void {
  for (let turn = 0; turn < TRIES; turn += 1) {
    const creditId = pick(random, creditIds, '');
    const key = JSON.stringify([organizationId, place, creditId]);
    const micro = stock.get(key) ?? 0n;
    const part = random() < 0.3 ? micro : (micro * BigInt(1 + Math.floor(random() * 999))) / 1_000n;
    if (part === 0n) continue;
    stock.set(key, micro - part);
    return onTaken(creditId, part);
  }
}

async function readOrganization({ read, clock }: TestMirror, world: TradeWorld, organizationId: string) {
  const { stock, reservations, retirements, hasState } = world;
  const by = { organizationId };
  const entries = [...stock]
    .filter(([, micro]) => micro > 0n)
    .map(([key, micro]) => ({ key: JSON.parse(key), micro }));
  const at = (place: TradePlace): Credit[] =>
    entries
      .filter(({ key }) => key[0] === organizationId && key[1] === place)
      .map(({ key, micro }) => toCredit(String(key[2]), micro, organizationId));
  const own = retirements.filter(each => each.organizationId === organizationId);
  for (const list of ['warehouse', 'inventory'] as const) {
    clock.at += 10;
    const { state } = await read(list, at(list), by);
    clock.at += 2 * MINUTE;
    if (state !== 'complete') await read(list, at(list), by);
  }
  clock.at += 10;
  expireDue(world, clock.at);
  const held = reservations
    .filter(each => each.organizationId === organizationId)
    .map(each => toReservation(each, hasState));
  await read('reservations', held, { ...by, limit: 100, total: held.length, findGone: async ids => ids });
  await read('retirements', own, { ...by, limit: 100, total: own.length, findGone: async ids => ids });
}

function toCredit(creditId: string, micro: bigint, organizationId: string): Credit {
  const more = { serialization: `ICR-${creditId}-2021`, vintage: '2021', project: projectOf(creditId) };
  return credit(creditId, { amount: amount(tonnes(micro)), organizationId, ...more });
}

function toReservation(
  { id, creditId, micro, state, createdAt, updatedAt, expiresAt }: TradeReservation,
  hasState: boolean,
): Reservation {
  const visibleFields = {
    creditId,
    amount: amount(tonnes(micro)),
    state: hasState ? state : null,
    isComplete: state === 'finished',
    reservedToDate: expiresAt,
    createdAt,
    updatedAt,
  };
  const document = JSON.stringify([id, visibleFields.state, visibleFields.isComplete, expiresAt, updatedAt]);
  return reservation(id, {
    ...visibleFields,
    serialization: `ICR-${creditId}-2021`,
    project: projectOf(creditId),
    document,
  });
}

function projectOf(creditId: string) {
  const number = Number(/\d+/.exec(creditId)?.[0] ?? 0) % 7;
  return { id: `project-${number}`, fullName: `Peat bog ${number}` };
}

function pickAmountMicro(random: () => number): bigint {
  return 1n + BigInt(Math.floor(random() * 50_000_000));
}

function tonnes(micro: bigint): string {
  const digits = String(micro).padStart(7, '0');
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

async function install({ mirror, clock }: TestMirror, organizationId: string): Promise<void> {
  await mirror.writeInstallation({
    installation: installation(`installation of ${organizationId}`, { organizationId }),
    state: 'active',
    claim: 1,
    startedAt: clock.at,
    arrivedAt: clock.at,
    trigger: 'delivery',
  });
}
