import type { Credit, Reservation, Retirement } from '../../src/registry/model.js';
import { type TestMirror, MINUTE } from './mirror/open.js';
import { amount, credit, installation, retirement } from './mirror/rows.js';
import { reservation } from './reservation.js';
import { createRandom, pick } from './random.js';

type Place = 'warehouse' | 'inventory';

interface Hold {
  readonly id: string;
  readonly organizationId: string;
  readonly creditId: string;
  readonly micro: bigint;
  readonly madeAt: string;
  changedAt: string;
  endsAt: string;
  state: 'outstanding' | 'cancelled' | 'finished' | 'expired';
}

interface World {
  readonly random: () => number;
  readonly creditIds: readonly string[];
  /** By organization, place and credit. */
  readonly stock: Map<string, bigint>;
  readonly holds: Hold[];
  readonly retirements: Retirement[];
  /** Whether it sends the state of a reservation; the documented registry sends none. */
  readonly hasState: boolean;
}

export interface Trade {
  /** Credits move, are held and retired at the registry, and nobody looks. */
  readonly act: (times: number) => void;
  /** Reads what one organization has now. */
  readonly look: (organizationId: string) => Promise<void>;
  /** Lets every reservation end whose time is limited. */
  readonly endReservations: () => void;
  /** Millionths of a tonne that reservations hold at the registry. */
  readonly reserved: () => bigint;
  readonly organizations: readonly string[];
}

const ORGANIZATIONS = ['organization-1', 'organization-2', 'organization-3'];
const NEVER = '2999-01-01T00:00:00.000Z';
const HOLD_MS = 10 * MINUTE;

/** A registry in which nothing comes from anywhere or goes anywhere but by what it shows. */
export async function createTrade(
  stage: TestMirror,
  seed: number,
  credits: number,
  hasState: boolean,
): Promise<Trade> {
  const random = createRandom(seed);
  const creditIds = Array.from({ length: credits }, (_, index) => `c-${index}`);
  const world: World = { random, creditIds, stock: new Map(), holds: [], retirements: [], hasState };
  for (const creditId of creditIds) {
    give(
      world,
      pick(random, ORGANIZATIONS, ''),
      pick(random, ['warehouse', 'inventory'], 'inventory'),
      creditId,
      someMicro(random),
    );
  }
  for (const organizationId of ORGANIZATIONS.slice(1)) await install(stage, organizationId);
  return {
    organizations: ORGANIZATIONS,
    act: times => {
      for (let time = 0; time < times; time += 1) {
        stage.clock.at += 1 + Math.floor(random() * MINUTE);
        expire(world, stage.clock.at);
        pick(random, MOVES, retire)(world, new Date(stage.clock.at).toISOString());
      }
    },
    look: organizationId => look(stage, world, organizationId),
    endReservations: () => {
      stage.clock.at += HOLD_MS;
      expire(world, stage.clock.at);
    },
    reserved: () =>
      world.holds.reduce((sum, { state, micro }) => (state === 'outstanding' ? sum + micro : sum), 0n),
  };
}

type Move = (world: World, at: string) => void;

const MOVES: readonly Move[] = [transfer, shift, reserve, reserve, reserve, settle, settle, retire];

function transfer({ random, ...world }: World): void {
  const [from, to] = [0, 1].map(() => pick(random, ORGANIZATIONS, ''));
  take({ random, ...world }, from ?? '', 'inventory', (creditId, micro) =>
    give({ random, ...world }, to ?? '', 'inventory', creditId, micro),
  );
}

/** Between the warehouse and the inventory of one. */
function shift(world: World): void {
  const organizationId = pick(world.random, ORGANIZATIONS, '');
  const isOut = world.random() < 0.5;
  take(world, organizationId, isOut ? 'warehouse' : 'inventory', (creditId, micro) =>
    give(world, organizationId, isOut ? 'inventory' : 'warehouse', creditId, micro),
  );
}

function reserve(world: World, at: string): void {
  const organizationId = pick(world.random, ORGANIZATIONS, '');
  take(world, organizationId, 'warehouse', (creditId, micro) => {
    world.holds.push({
      id: `h-${world.holds.length}`,
      organizationId,
      creditId,
      micro,
      madeAt: at,
      changedAt: at,
      endsAt: world.random() < 0.5 ? NEVER : new Date(Date.parse(at) + HOLD_MS).toISOString(),
      state: 'outstanding',
    });
  });
}

/** Holds whose time is over give back what they held. */
function expire(world: World, now: number): void {
  for (const hold of world.holds) {
    if (hold.state !== 'outstanding' || Date.parse(hold.endsAt) > now) continue;
    hold.state = 'expired';
    hold.changedAt = hold.endsAt;
    give(world, hold.organizationId, 'warehouse', hold.creditId, hold.micro);
  }
}

/** A hold is given back, or what it held is retired by whoever bought it. */
function settle(world: World, at: string): void {
  const open = world.holds.filter(({ state }) => state === 'outstanding');
  const held = open[Math.floor(world.random() * open.length)];
  if (held === undefined) return;
  const isSold = world.random() < 0.5;
  held.state = isSold ? 'finished' : 'cancelled';
  held.changedAt = at;
  if (isSold) record(world, pick(world.random, ORGANIZATIONS, ''), held.creditId, held.micro, at);
  else {
    held.endsAt = at;
    give(world, held.organizationId, 'warehouse', held.creditId, held.micro);
  }
}

function retire(world: World, at: string): void {
  const organizationId = pick(world.random, ORGANIZATIONS, '');
  take(world, organizationId, 'inventory', (creditId, micro) =>
    record(world, organizationId, creditId, micro, at),
  );
}

function record({ retirements }: World, organizationId: string, creditId: string, micro: bigint, at: string) {
  const of = `ICR-${creditId}-2021`;
  const made = {
    organizationId,
    amount: amount(tonnes(micro)),
    createdAt: at,
    serialization: of,
    project: projectOf(creditId),
  };
  retirements.push(retirement(`r-${retirements.length}`, made));
}

function give({ stock }: World, organizationId: string, place: Place, creditId: string, micro: bigint): void {
  const key = JSON.stringify([organizationId, place, creditId]);
  stock.set(key, (stock.get(key) ?? 0n) + micro);
}

const TRIES = 30;

/** Some of what stands there, if anything is found. */
function take(
  { random, stock, creditIds }: World,
  organizationId: string,
  place: Place,
  then: (creditId: string, micro: bigint) => void,
): void {
  for (let turn = 0; turn < TRIES; turn += 1) {
    const creditId = pick(random, creditIds, '');
    const key = JSON.stringify([organizationId, place, creditId]);
    const micro = stock.get(key) ?? 0n;
    const part = random() < 0.3 ? micro : (micro * BigInt(1 + Math.floor(random() * 999))) / 1_000n;
    if (part === 0n) continue;
    stock.set(key, micro - part);
    return then(creditId, part);
  }
}

async function look({ read, clock }: TestMirror, world: World, organizationId: string) {
  const { stock, holds, retirements, hasState } = world;
  const by = { organizationId };
  const shown = [...stock]
    .filter(([, micro]) => micro > 0n)
    .map(([key, micro]) => ({ key: JSON.parse(key), micro }));
  const at = (place: Place): Credit[] =>
    shown
      .filter(({ key }) => key[0] === organizationId && key[1] === place)
      .map(({ key, micro }) => shownCredit(String(key[2]), micro, organizationId));
  const own = retirements.filter(each => each.organizationId === organizationId);
  for (const list of ['warehouse', 'inventory'] as const) {
    clock.at += 10;
    const { state } = await read(list, at(list), by);
    clock.at += 2 * MINUTE;
    if (state !== 'complete') await read(list, at(list), by);
  }
  clock.at += 10;
  expire(world, clock.at);
  const held = holds
    .filter(each => each.organizationId === organizationId)
    .map(each => shownHold(each, hasState));
  await read('reservations', held, { ...by, limit: 100, total: held.length, ask: async ids => ids });
  await read('retirements', own, { ...by, limit: 100, total: own.length, ask: async ids => ids });
}

function shownCredit(creditId: string, micro: bigint, organizationId: string): Credit {
  const more = { serialization: `ICR-${creditId}-2021`, vintage: '2021', project: projectOf(creditId) };
  return credit(creditId, { amount: amount(tonnes(micro)), organizationId, ...more });
}

function shownHold(
  { id, creditId, micro, state, madeAt, changedAt, endsAt }: Hold,
  hasState: boolean,
): Reservation {
  const of = {
    creditId,
    amount: amount(tonnes(micro)),
    state: hasState ? state : null,
    isComplete: state === 'finished',
    reservedToDate: endsAt,
    createdAt: madeAt,
    updatedAt: changedAt,
  };
  const document = JSON.stringify([id, of.state, of.isComplete, endsAt, changedAt]);
  return reservation(id, {
    ...of,
    serialization: `ICR-${creditId}-2021`,
    project: projectOf(creditId),
    document,
  });
}

function projectOf(creditId: string) {
  const number = Number(/\d+/.exec(creditId)?.[0] ?? 0) % 7;
  return { id: `project-${number}`, fullName: `Peat bog ${number}` };
}

function someMicro(random: () => number): bigint {
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
