import type { DeliveryQuery } from '../../inbox/delivery.js';
import { UNCHANGED_OUTCOME } from '../../inbox/job.js';
import type { SyncContext } from '../context.js';
import { type CausedJob, createObserved, type Step, withCause } from './step.js';
import { followUp } from './follow-up.js';
import type { LastRead } from '../../mirror/port.js';
import type { Opened } from './access.js';
import { createGate, type Gate } from './gate.js';
import { createUrgentReads } from './urgent-reads.js';
import { codeOf, endsJob, SyncError } from '../outcome.js';
import { isPermitted, plan, type Resource, type ReadScope } from '../plan.js';
import { readList } from '../read/read-list.js';
import { readProjects } from '../read/read-projects.js';
import type { RunningJob } from '../worker/worker.js';

/**
 * Look at one installation: what it allows, then everything that it allows to be read.
 * A step that fails stops no other step, and only what failed is asked for again. Where the schedule finds what no
 * delivery has announced, what is read seldom is read too.
 */
export async function readInstallation(context: SyncContext, atWork: RunningJob): Promise<string> {
  const caused = await withCause(context, atWork);
  const gate = createGate(context, caused);
  try {
    const opened = await gate.enter();
    if (opened === null) return wordOf(gate.state(), atWork, gate);
    const step = stepOf(context, caused, opened);
    const { wanted, mayAsk, urgentReads } = await prepare(step, gate, opened);
    const { observed } = step;
    const toRead = [...wanted];
    for (const resource of toRead) {
      await urgentReads.turn();
      await readOne({ ...step, turn: () => urgentReads.turn(resource) }, resource, gate);
      if (resource === wanted.at(-1) && observed.news && atWork.job.trigger === 'schedule')
        toRead.push(...(await mayAsk()).filter(other => !wanted.includes(other)));
    }
    await noteAbsent(step);
    return wordOf(await followUp(step), atWork, gate, observed);
  } catch (error) {
    if (error instanceof SyncError && error.code === 'access_gone') return gate.state();
    throw error;
  }
}

function wordOf(word: string, { job }: RunningJob, gate: Gate, observed = createObserved()): string {
  const isNew = observed.news || gate.hasChanged() || observed.failures.size > 0;
  return job.onlyDuplicates && !isNew ? UNCHANGED_OUTCOME : word;
}

async function prepare(step: Step, gate: Gate, { installation, permissionsChanged }: Opened) {
  const { mirror, now, organizationId, mirrorMembers } = step;
  const { permissions } = installation;
  const asked = {
    organizationId,
    scope: step.wish,
    trigger: step.job.trigger,
    permissions,
    permissionsChanged,
    mirrorMembers,
  };
  const whatIsKnown = async () => {
    const last = await mirror.readListStates(organizationId);
    return {
      last,
      reaccepted: await whereCame(step, last, SINCE_DECLINED),
      announced: await whereCame(step, last, SINCE_SELDOM_READ),
      now: now(),
    };
  };
  const { read: wanted, unpermitted } = plan({ ...asked, ...(await whatIsKnown()) });
  if (unpermitted.length > 0) await mirror.markAccess('no_permission', step.task, unpermitted, now());
  const urgent = { ...asked, scope: EVERYTHING, trigger: 'delivery' };
  const mayAsk = async () => plan({ ...urgent, ...(await whatIsKnown()) }).read;
  const read = (resource: Resource) => readResource(step, resource);
  /** What is to be read, in its order, and everything that may be asked for now. */
  return { wanted, mayAsk, urgentReads: createUrgentReads(step, { gate, mayAsk, read }) };
}

type Asks = (read: LastRead) => readonly DeliveryQuery[];

/** Of what was declined: whether the organization has accepted new permissions since it was asked for. */
const SINCE_DECLINED: Asks = ({ declined, attemptedAt }) =>
  declined === null ? [] : [{ since: attemptedAt ?? 0, event: 'newPermissionsAccepted' }];

/** A clock that was ahead may have dated a delivery after the read that answers it. */
const SINCE_SELDOM_READ: Asks = ({ everyMs, dataAsOf }) =>
  everyMs === null ? [] : [{ since: dataAsOf ?? 0 }];

/** The resources of which what is asked has come. */
async function whereCame(
  { inbox, installationId }: Step,
  last: ReadonlyMap<string, LastRead>,
  asks: Asks,
): Promise<ReadonlySet<string>> {
  const asked = [...last].flatMap(([resource, read]) => asks(read).map(arrival => ({ resource, arrival })));
  if (asked.length === 0) return new Set();
  const questions = asked.map(({ arrival }) => arrival);
  const came = await inbox.haveDeliveriesArrived(installationId, questions);
  return new Set(asked.flatMap(({ resource }, index) => (came[index] === true ? [resource] : [])));
}

/** Not there while others are: not offered. Not there while nothing is: something else is wrong. */
async function noteAbsent({ mirror, now, task, observed }: Step): Promise<void> {
  const { absent, answered, failures } = observed;
  const last = absent.size === 0 ? null : await mirror.readListStates(task.organizationId);
  for (const [resource, error] of absent) {
    const isKnown = last?.get(resource)?.declined === 'not_offered';
    if (answered || isKnown) await mirror.markAccess('not_offered', task, [resource], now());
    else failures.set(resource, error);
  }
}

const EVERYTHING: ReadScope = { resources: null, full: false };

function readResource(step: Step, resource: Resource): Promise<void> {
  return resource === 'projects' ? readProjects(step) : readList(step, resource);
}

/** A refusal is believed when a new token and another look at the permissions do not help. Any other fault is kept for later. */
async function readOne(step: Step, resource: Resource, gate: Gate): Promise<void> {
  const { mirror, task, now, observed } = step;
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      await readResource(step, resource);
      observed.answered ||= resource !== 'projects';
      return;
    } catch (error) {
      if (!(await isRefusal(step, resource, error))) return;
    }
    const { installation } = await gate.again();
    if (!isPermitted(installation.permissions, resource)) {
      await mirror.markAccess('no_permission', task, [resource], now());
      return;
    }
  }
  await mirror.markAccess('refused', task, [resource], now());
}

async function isRefusal(step: Step, resource: Resource, error: unknown): Promise<boolean> {
  const { before, absent, failures } = step.observed;
  step.signal.throwIfAborted();
  if (endsJob(error)) throw error;
  const code = codeOf(error);
  if (code === 'forbidden') return true;
  if (code === 'other_form' && isStrange(before.get(resource))) {
    await step.mirror.markAccess('not_offered', step.task, [resource], step.now());
  } else (code === 'not_found' ? absent : failures).set(resource, error);
  return false;
}

/** Whether the resource was never read as a whole, or came in another form the last time too. */
function isStrange(before: LastRead | undefined): boolean {
  return before === undefined || before.dataAsOf === null || before.isStrange;
}

function stepOf(context: SyncContext, caused: CausedJob, { organizationId }: Opened): Step {
  const { part, claim } = caused.job;
  return {
    ...context,
    ...caused,
    organizationId,
    task: { organizationId, part, claim },
    organization: context.client.organization(caused.installationId, organizationId),
    observed: createObserved(),
  };
}
