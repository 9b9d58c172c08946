import { ApiError } from '../../src/sandbox/http/api-errors.js';
import type { Program } from './program.js';
import { pick, type Random } from './random.js';
import { ALL_PERMISSIONS } from './sandbox.js';

export interface RandomWorld {
  readonly program: Program;
  readonly random: Random;
  readonly organizations: readonly string[];
}

type RegistryOperation = (world: RandomWorld, organizationId: string) => void;

const HOSTILE_TEXTS = ["Robert'); DROP TABLE retirements;--", 'O’Brien & Søn', '=1+1', 'line\nbreak', ''];
const MISSING = 'nothing there to do this with';

function pickOrThrow<Row>({ random }: RandomWorld, rows: readonly Row[]): Row {
  const picked = pick(random, rows);
  if (picked === undefined) throw new Error(MISSING);
  return picked;
}

function getRegistryTables({ program }: RandomWorld) {
  return program.registry.store.tables;
}

function pickAmount(world: RandomWorld, micro: number): number {
  return world.random() < 0.3 ? micro / 1e6 : Math.max(1, Math.floor((world.random() * micro) / 1e3)) / 1e3;
}

function pickHolding(world: RandomWorld, organizationId: string, place: 'warehouse' | 'inventory') {
  const rows = world.program.registry.store.accounts.listHoldings(organizationId, place);
  return pickOrThrow(world, rows);
}

function pickRetirementTexts({ random }: RandomWorld) {
  return {
    reason: 'for good',
    beneficiaryName: pick(random, HOSTILE_TEXTS) || 'Ada',
    comment: pick(random, HOSTILE_TEXTS),
  };
}

function pickOrder(world: RandomWorld, organizationId: string) {
  const { random, organizations } = world;
  const action = pick(random, ['transfer', 'retire', 'transfer_retire'] as const) ?? 'retire';
  const other = organizations.find(id => id !== organizationId) ?? organizationId;
  return { action, other, retirementData: action === 'transfer' ? undefined : pickRetirementTexts(world) };
}

function pickIdInState(
  world: RandomWorld,
  rows: readonly { readonly id: string; readonly state: string }[],
  state: string,
): string {
  return pickOrThrow(
    world,
    rows.filter(row => row.state === state),
  ).id;
}

function pickOutstandingReservation(world: RandomWorld, organizationId: string): string {
  return pickIdInState(world, getRegistryTables(world).reservations.list(organizationId), 'outstanding');
}

function pickPendingRequest(world: RandomWorld, organizationId: string): string {
  return pickIdInState(world, getRegistryTables(world).requests.list(organizationId), 'Pending');
}

function pickInstallation(world: RandomWorld, organizationId: string, state: string): string {
  return pickIdInState(world, getRegistryTables(world).installations.list(organizationId), state);
}

function pickProject(world: RandomWorld): string {
  return pickOrThrow(world, getRegistryTables(world).projects.list()).id;
}

function createIssueOperation(place: 'warehouse' | 'inventory'): RegistryOperation {
  return (world, organizationId) => {
    const { random, program } = world;
    const projectId =
      random() < 0.4
        ? program.registry.projects.create({ fullName: `P ${random()}` }).id
        : pickProject(world);
    program.registry.credits.issue({ organizationId, projectId, place, amount: 40, vintage: '2022' });
  };
}

/** Operations that change what a mirror can see. Each throws if there is nothing to work on. */
const OPERATIONS: Readonly<Record<string, RegistryOperation>> = {
  issueToWarehouse: createIssueOperation('warehouse'),
  issueToInventory: createIssueOperation('inventory'),
  deposit: (world, organizationId) => {
    const { creditId, amountMicro } = pickHolding(world, organizationId, 'inventory');
    const body = { creditId, amount: pickAmount(world, amountMicro) };
    world.program.registry.credits.deposit(organizationId, body);
  },
  withdraw: (world, organizationId) => {
    const { creditId, amountMicro } = pickHolding(world, organizationId, 'warehouse');
    world.program.registry.credits.withdraw(organizationId, {
      creditId,
      amount: amountMicro / 1e6,
    });
  },
  friendbot: ({ program }, organizationId) => {
    program.registry.credits.friendbot(organizationId);
  },
  reserve: (world, organizationId) => {
    const { creditId, amountMicro } = pickHolding(world, organizationId, 'warehouse');
    const body = { creditId, amount: pickAmount(world, amountMicro) };
    world.program.registry.reservations.reserve(organizationId, world.program.app.id, body);
  },
  cancel: (world, organizationId) => {
    const id = pickOutstandingReservation(world, organizationId);
    world.program.registry.reservations.cancel(organizationId, world.program.app.id, id);
  },
  finish: (world, organizationId) => {
    const id = pickOutstandingReservation(world, organizationId);
    const { action, other, retirementData } = pickOrder(world, organizationId);
    const receiverId = action === 'retire' ? undefined : other;
    const finish = { id, action, body: { receiverId, retirementData } };
    world.program.registry.reservations.finish(organizationId, world.program.app.id, finish);
  },
  request: (world, organizationId) => {
    const { creditId, amountMicro } = pickHolding(world, organizationId, 'inventory');
    const { action, other, retirementData } = pickOrder(world, organizationId);
    const toOrganizationId = action === 'retire' ? undefined : other;
    const amount = pickAmount(world, amountMicro);
    const body = { creditId, amount, toOrganizationId, retirementData };
    world.program.registry.requests.create(organizationId, world.program.app.id, { action, body });
  },
  accept: (world, organizationId) => {
    world.program.registry.requests.accept(pickPendingRequest(world, organizationId));
  },
  decline: (world, organizationId) => {
    world.program.registry.requests.decline(pickPendingRequest(world, organizationId));
  },
  retireOffPlatform: (world, organizationId) => {
    const { creditId, amountMicro } = pickHolding(world, organizationId, 'inventory');
    const body = { creditId, amount: pickAmount(world, amountMicro) };
    world.program.registry.credits.retireOffPlatform(organizationId, body);
  },
  claimRetirement: (world, organizationId) => {
    const rows = getRegistryTables(world).retirements.list(organizationId);
    const { id } = pickOrThrow(
      world,
      rows.filter(({ details }) => details === null),
    );
    world.program.registry.retirements.changeDetails(id, { beneficiary: 'Grace', reason: 'found again' });
  },
  changeProject: world => {
    const isPublic = world.random() < 0.7;
    const fullName = `P ${world.random()}`;
    world.program.registry.projects.change(pickProject(world), {
      fullName,
      shortDescription: fullName,
      isPublic,
    });
  },
  suspend: (world, organizationId) => {
    world.program.registry.installations.suspend(pickInstallation(world, organizationId, 'active'));
  },
  unsuspend: (world, organizationId) => {
    world.program.registry.installations.unsuspend(pickInstallation(world, organizationId, 'suspended'));
  },
  uninstall: (world, organizationId) => {
    world.program.registry.installations.uninstall(pickInstallation(world, organizationId, 'active'));
  },
  install: ({ program }, organizationId) => {
    program.registry.installations.install(program.app.id, organizationId);
  },
  permissions: (world, organizationId) => {
    const { program, random } = world;
    const id = pickInstallation(world, organizationId, 'active');
    const names = Object.entries(ALL_PERMISSIONS);
    const kept = names.filter(([name]) => name === 'organization_info' || random() < 0.8);
    program.registry.apps.change(program.app.id, { permissions: Object.fromEntries(kept) });
    program.registry.installations.acceptPermissions(id);
  },
  wait: ({ program }) => {
    program.time.move(10 * 60_000);
  },
};

const RARE_OPERATIONS = new Set(['suspend', 'uninstall', 'permissions', 'wait', 'friendbot']);
const WEIGHTED_NAMES = Object.keys(OPERATIONS).flatMap(name =>
  RARE_OPERATIONS.has(name) ? [name] : [name, name, name],
);

/** Runs random operations until one succeeds, and returns its name. */
export function runRandomOperation(world: RandomWorld): string {
  for (;;) {
    const name = pick(world.random, WEIGHTED_NAMES) ?? '';
    const organizationId = pick(world.random, world.organizations) ?? '';
    try {
      OPERATIONS[name]?.(world, organizationId);
      return name;
    } catch (error) {
      if (!(error instanceof Error) || !isRefusal(error)) throw error;
    }
  }
}

/** Returns whether the sandbox refused the operation, or there was nothing to work on. */
function isRefusal(error: Error): boolean {
  return error.message === MISSING || error instanceof ApiError;
}
