import { SCHEMA_LAW } from '../../src/store/schema-objects.js';
import { expect } from 'vitest';
import { findContradictedRows } from '../../src/cli/commands/verify/contradicted-rows.js';
import type { ConsistencyFault } from '../../src/store/contract/finding.js';
import type { Reader } from '../../src/store/contract/reader.js';
import { enqueueTick } from '../../src/sync/schedule/tick-schedule.js';
import { findDifferences, dumpRows, dumpRowsAsOf } from './compare.js';
import { findUnconfirmedExplanations } from './confirm-explanations.js';
import { runRandomOperation, type RandomWorld } from './operations.js';
import { createRandom, pick, type Random } from './random.js';
import { type Program, type ProgramOptions, startProgram } from './program.js';
import { startProxy } from './proxy.js';
import { createConsumerCopy, listRowsAsOf, listRowsOfCopy } from './mirror/consumer-copy.js';
import { createResponseHistory, type ResponseHistory } from './response-history.js';
import { createOrganization, issueCredit } from './sandbox.js';
import { withResolvers } from './wait.js';

/** Counts of the events in one history. In a torture run, none of them may be 0. */
export interface HistoryTally {
  readonly operations: number;
  readonly drops: number;
  readonly kills: number;
  /** Times that the registry was killed. */
  readonly registryKills: number;
  readonly closedRows: number;
  /** Times that the clock was set back. */
  readonly clockChanges: number;
  /** Pages beyond the first of a list. */
  readonly pages: number;
}

/** A running history, with the controls that disturb it. */
interface HistoryPlay extends RandomWorld {
  readonly responses: ResponseHistory;
  /** Holds back all answers until the returned function is called. */
  readonly holdAnswers: () => () => void;
  readonly startWorker: () => Promise<void>;
  readonly count: { kills: number; registryKills: number; clockChanges: number; pages: number };
}

const RESTS = 3;
const OPERATIONS_PER_REST = 7;
const LEASE_MS = 60_000;
/** The most by which the clock is set back. Time also moves during reads, so they seem slow, and the schedule spares slow reads. */
const STEP_BACK_MS = 60_000;
/** After a rest the clock moves on, so that it is never set back to before the rest, whose history must stay as it was. */
const AFTER_REST_MS = OPERATIONS_PER_REST * STEP_BACK_MS;
/** The longest time that an answer is held back. Leases must be longer. */
const HELD_MS = 100;
const SECOND_MS = 1000;
/** Long enough for lists that are read once a day. */
const LONG_REST_MS = 24 * 3_600_000;
/** How many rows of each history are explained. */
const EXPLAINED = Number(process.env['HISTORY_EXPLAINED'] ?? 10);

/**
 * Plays a random history of two organizations, with deliveries lost, doubled and reordered, answers held back,
 * pages of any size, the clock set back, and the worker and the registry killed. At each rest the mirror must equal the registry. At
 * the end its history must still show every earlier rest, and must date nothing before the registry had sent it.
 */
export async function playHistory(seed: number, profile?: ProgramOptions['profile']): Promise<HistoryTally> {
  const play = await startHistory(seed, profile);
  const { program, responses, count } = play;
  const rests: { readonly at: number; readonly dump: string; readonly copyRows: string[] }[] = [];
  const copy = createConsumerCopy();
  const log: string[] = [];
  for (let rest = 0; rest < RESTS; rest++) {
    await disturbHistory(play, log);
    await settleDown(program);
    expect(await findDifferences(program), `seed ${seed}: ${log.join(', ')}`).toEqual([]);
    expect(await findConsistencyFaults(program), `seed ${seed}: ${log.join(', ')}`).toEqual([]);
    expect(await withReader(program, copy.catchUp), `seed ${seed}: ${log.join(', ')}`).toEqual([]);
    rests.push({ at: program.time.now(), dump: await dumpRows(program), copyRows: listRowsOfCopy(copy) });
    program.time.move(AFTER_REST_MS);
  }
  for (const { at, dump: photo, copyRows: copied } of rests) {
    expect(await dumpRowsAsOf(program, at), `seed ${seed}`).toBe(photo);
    const instant = new Date(at).toISOString();
    expect(await withReader(program, reader => listRowsAsOf(reader, instant)), `seed ${seed}`).toEqual(
      copied,
    );
  }
  const leewayMs = SECOND_MS + count.clockChanges * STEP_BACK_MS;
  const sample = { random: play.random, times: EXPLAINED, leewayMs };
  expect(await findUnconfirmedExplanations(program, sample), `seed ${seed}`).toEqual([]);
  expect(await responses.findDatedTooEarly(program), `seed ${seed}: ${log.join(', ')}`).toEqual([]);
  return {
    ...count,
    operations: RESTS * OPERATIONS_PER_REST,
    drops: program.registry.deliveries.list(1000).filter(({ state }) => state === 'dropped').length,
    closedRows: await countClosed(program),
  };
}

/** Returns the findings of `verify`, except about the schema: a test that moves the clock on PostgreSQL replaces views. */
async function findConsistencyFaults({ engine, time }: Program): Promise<ConsistencyFault[]> {
  const reader = await engine.openReader();
  try {
    const findings = await engine.findConsistencyFaults(time.now());
    return [...findings.filter(({ law }) => law !== SCHEMA_LAW), ...(await findContradictedRows(reader))];
  } finally {
    await reader.close();
  }
}

async function withReader<T>({ engine }: Program, ask: (reader: Reader) => Promise<T>): Promise<T> {
  const reader = await engine.openReader();
  try {
    return await ask(reader);
  } finally {
    await reader.close();
  }
}

async function startHistory(seed: number, profile: ProgramOptions['profile']): Promise<HistoryPlay> {
  const random = createRandom(seed);
  /** A generator of its own for delays: the order of calls must not change which operations are done. */
  const delayRandom = createRandom(~seed);
  let held: Promise<void> | undefined;
  const program = await startProgram({ receiveOnly: true, profile });
  const { sandbox, registry, app } = program;
  const responses = createResponseHistory(program.time.now);
  const count = { kills: 0, registryKills: 0, clockChanges: 0, pages: 0 };
  const limit = Math.floor(10 * 10 ** random());
  const baseUrl = await startProxy(sandbox.url, () => null, {
    rewrite: path => path.replace('limit=100', `limit=${limit}`),
    hold: async (path, body) => {
      await new Promise(resolve => setTimeout(resolve, delayRandom() * 5));
      await held;
      program.time.move(Math.floor(delayRandom() * HELD_MS));
      responses.record(path, body);
      if (/[?&]page=[1-9]/.test(path)) count.pages += 1;
    },
  });
  const startWorker = () => program.startWorker({ baseUrl, deadlineMs: 5000 });
  const organizations = [createOrganization(sandbox).id, createOrganization(sandbox).id];
  for (const id of organizations) {
    issueCredit(sandbox, id);
    const creditId = issueCredit(sandbox, id, { place: 'inventory' });
    if (id === organizations[0]) retireOften(program, id, creditId);
    registry.installations.install(app.id, id);
  }
  await startWorker();
  const holdAnswers = () => {
    const { promise, resolve } = withResolvers();
    held = promise;
    return resolve;
  };
  return { program, random, organizations, responses, holdAnswers, startWorker, count };
}

/** Retires often enough for several pages. */
function retireOften({ registry }: Program, organizationId: string, creditId: string): void {
  for (let n = 0; n < 25; n++)
    registry.credits.retireOffPlatform(organizationId, { creditId, amount: 0.001 });
}

async function disturbHistory(play: HistoryPlay, log: string[]): Promise<void> {
  const { program, random, responses, startWorker, count } = play;
  for (let step = 0; step < OPERATIONS_PER_REST; step++) {
    disturbDeliveries(program, random);
    log.push(runRandomOperation(play));
    await new Promise(resolve => setTimeout(resolve, random() * 30));
    if (random() < 0.15) {
      program.time.move(-Math.floor(random() * STEP_BACK_MS));
      responses.recordClockSetBack();
      count.clockChanges += 1;
      log.push('clock set back');
    }
    if (random() < 0.15) {
      await killInTheMiddle(play);
      program.time.move(LEASE_MS + STEP_BACK_MS);
      await startWorker();
      log.push('kill');
    }
    if (random() < 0.1) {
      await program.killRegistry();
      count.registryKills += 1;
      log.push('registry killed');
    }
  }
}

/** Kills the worker during a read, if an installation can be read. Answers that were held back arrive afterwards. */
async function killInTheMiddle({ program, holdAnswers, count }: HistoryPlay): Promise<void> {
  const releaseAnswers = holdAnswers();
  program.time.move(STEP_BACK_MS);
  await enqueueTick(program.inbox, program.time.now(), program.time.now());
  void program.worker().idle();
  for (let checks = 0; checks < 50 && program.worker().countRuns() === 0; checks++)
    await new Promise(resolve => setTimeout(resolve, 20));
  if (program.worker().countRuns() > 0) count.kills += 1;
  const killed = program.kill();
  releaseAnswers();
  await killed;
}

function disturbDeliveries({ registry }: Program, random: Random): void {
  const drop = random() < 0.25 ? 1 : 0;
  const duplicate = pick(random, [0, 0, 1, 2]) ?? 0;
  const reorder = pick(random, [0, 0, 2, 3]) ?? 0;
  registry.deliveries.changeSettings({ drop, duplicate, reorder });
}

/** Releases held deliveries and lets old claims expire. Then the schedule finds what was lost. */
async function settleDown(program: Program): Promise<void> {
  program.time.move(LEASE_MS + OPERATIONS_PER_REST * STEP_BACK_MS);
  void program.worker().idle();
  program.registry.deliveries.changeSettings({ drop: 0, duplicate: 0, reorder: 0 });
  program.registry.deliveries.release();
  await program.rest();
  await program.reconcile(LONG_REST_MS);
}

async function countClosed(program: Program): Promise<number> {
  return Number(await program.value('SELECT coalesce(sum(rows_removed), 0) FROM syncs'));
}
