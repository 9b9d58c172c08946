import { expect } from 'vitest';
import { differences, photograph, photographAsOf } from './compare.js';
import { createRandom, operate, pick, type Random, type World } from './operations.js';
import { type Program, startProgram } from './program.js';
import { createOrganization, issueCredit } from './sandbox.js';

/** What went on in one history; a torture run wants none of them to be 0. */
export interface Tally {
  readonly operations: number;
  readonly drops: number;
  readonly kills: number;
  readonly closed: number;
}

const RESTS = 3;
const OPERATIONS_PER_REST = 7;
const LEASE_MS = 60_000;
/** Time is moved while reads run, so they seem to take long; what takes long is spared by the schedule. */
const LONG_REST_MS = 12 * 3_600_000;

/**
 * A random history of two organizations, with deliveries lost, doubled and reordered and the worker killed.
 * At each rest the mirror equals the registry; at the end its history still knows every earlier rest.
 */
export async function playHistory(seed: number): Promise<Tally> {
  const random = createRandom(seed);
  const program = await startProgram({ http: { deadlineMs: 5000 } });
  const organizations = [createOrganization(program.sandbox).id, createOrganization(program.sandbox).id];
  for (const id of organizations) {
    issueCredit(program.sandbox, id);
    issueCredit(program.sandbox, id, { place: 'inventory' });
    program.registry.installations.install(program.app.id, id);
  }
  const world: World = { program, random, organizations };
  const rests: { readonly at: number; readonly photo: string }[] = [];
  const log: string[] = [];
  let kills = 0;
  for (let rest = 0; rest < RESTS; rest++) {
    kills += await disturb(world, log);
    await settle(program);
    expect(differences(program), `seed ${seed}: ${log.join(', ')}`).toEqual([]);
    rests.push({ at: program.time.now(), photo: photograph(program) });
    program.time.move(5);
  }
  for (const { at, photo } of rests) expect(photographAsOf(program, at), `seed ${seed}`).toBe(photo);
  return {
    operations: RESTS * OPERATIONS_PER_REST,
    drops: program.registry.deliveries.list(1000).filter(({ state }) => state === 'dropped').length,
    kills,
    closed: countClosed(program),
  };
}

async function disturb(world: World, log: string[]): Promise<number> {
  const { program, random } = world;
  let kills = 0;
  for (let step = 0; step < OPERATIONS_PER_REST; step++) {
    trouble(program, random);
    log.push(operate(world));
    await new Promise(resolve => setTimeout(resolve, random() * 30));
    if (random() < 0.15) {
      if (program.worker().running() > 0) kills += 1;
      await program.kill();
      program.time.move(LEASE_MS + 1);
      program.startWorker();
      log.push('kill');
    }
  }
  return kills;
}

function trouble({ registry }: Program, random: Random): void {
  const drop = random() < 0.25 ? 1 : 0;
  const duplicate = pick(random, [0, 0, 1, 2]) ?? 0;
  const reorder = pick(random, [0, 0, 2, 3]) ?? 0;
  registry.deliveries.behave({ drop, duplicate, reorder });
}

/** What was held back is let go; the schedule finds what was lost. */
async function settle(program: Program): Promise<void> {
  program.registry.deliveries.behave({ drop: 0, duplicate: 0, reorder: 0 });
  program.registry.deliveries.release();
  await program.rest();
  await program.reconcile(LONG_REST_MS);
}

function countClosed(program: Program): number {
  const [row] = program.rows('SELECT sum(rows_removed) AS closed FROM sync_runs');
  return Number(Object(row)['closed'] ?? 0);
}
