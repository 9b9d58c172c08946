import { UNCHANGED } from '../../inbox/job.js';
import type { Context } from '../context.js';
import { createObserved, type Observed, notedIn } from './observed.js';
import { followUp } from './follow-up.js';
import type { LastRead } from '../../mirror/port.js';
import type { Opened } from './access.js';
import { createGate, type Gate } from './gate.js';
import { installationOf } from './installation-of.js';
import { createUrgentReads } from './urgent-reads.js';
import { codeOf, endsJob, StopError } from '../outcome.js';
import { isPermitted, plan, type Resource, type Wish } from '../plan.js';
import { readList } from '../read/read-list.js';
import { readProjects } from '../read/read-projects.js';
import type { Step } from '../read/step.js';
import type { CausedJob } from '../cause.js';

/**
 * Look at one installation: what it allows, then everything that it allows to be read.
 * A step that fails stops no other step, and only what failed is asked for again. Where the schedule finds what no
 * delivery has announced, what is read seldom is read too.
 */
export async function readInstallation(context: Context, atWork: CausedJob): Promise<string> {
  const gate = createGate(context, atWork, installationOf(atWork));
  const observed = createObserved();
  try {
    const opened = await gate.enter();
    if (opened === null) return wordOf(gate.state(), atWork, gate, observed);
    const { step, wanted, mayAsk, urgentReads } = await prepare(context, atWork, gate, opened, observed);
    const toRead = [...wanted];
    for (const resource of toRead) {
      await urgentReads.turn();
      await readOne({ ...step, turn: () => urgentReads.turn(resource) }, resource, gate, observed);
      if (resource === wanted.at(-1) && observed.news && atWork.job.trigger === 'schedule')
        toRead.push(...(await mayAsk()).filter(other => !wanted.includes(other)));
    }
    await noteAbsent(context, step, observed);
    return wordOf(await followUp(context, atWork, opened, observed), atWork, gate, observed);
  } catch (error) {
    if (error instanceof StopError && error.code === 'access_gone') return gate.state();
    throw error;
  }
}

function wordOf(word: string, { job }: CausedJob, gate: Gate, { news, failures }: Observed): string {
  return job.onlyDuplicatesAsked && !news && !gate.hasChanged() && failures.size === 0 ? UNCHANGED : word;
}

async function prepare(context: Context, atWork: CausedJob, gate: Gate, opened: Opened, observed: Observed) {
  const { inbox, mirror, now } = context;
  const { organizationId, installation } = opened;
  const asked = {
    organizationId,
    wish: atWork.wish,
    trigger: atWork.job.trigger,
    permissions: installation.permissions,
    permissionsChanged: opened.permissionsChanged,
    mirrorMembers: context.mirrorMembers,
  };
  const whatIsKnown = async () => {
    const last = await mirror.states(organizationId);
    return {
      last,
      reaccepted: await findReaccepted(inbox, installation.id, last),
      announced: await findAnnounced(inbox, installation.id, last),
      now: now(),
    };
  };
  const { read: wanted, unpermitted } = plan({ ...asked, ...(await whatIsKnown()) });
  const step = stepOf(context, atWork, opened, observed);
  if (unpermitted.length > 0) await mirror.mark('no_permission', step.task, unpermitted, now());
  const urgent = { ...asked, wish: EVERYTHING, trigger: 'delivery' };
  const mayAsk = async () => plan({ ...urgent, ...(await whatIsKnown()) }).read;
  const read = (resource: Resource) => readResource(step, resource);
  /** What is to be read, in its order, and everything that may be asked for now. */
  return { step, wanted, mayAsk, urgentReads: createUrgentReads(context, { gate, atWork, mayAsk, read }) };
}

/** Of what was declined: for which the organization has accepted new permissions since it was asked for. */
async function findReaccepted(
  inbox: Context['inbox'],
  installationId: string,
  last: ReadonlyMap<string, LastRead>,
): Promise<ReadonlySet<string>> {
  const declined = [...last].filter(([, { declined: how }]) => how !== null);
  if (declined.length === 0) return new Set();
  const questions = declined.map(([, { attemptedAt }]) => ({
    since: attemptedAt ?? 0,
    event: 'newPermissionsAccepted',
  }));
  const accepted = await inbox.haveCome(installationId, questions);
  return new Set(declined.flatMap(([resource], index) => (accepted[index] === true ? [resource] : [])));
}

/** A clock that was ahead may have dated a delivery after the read that answers it. */
async function findAnnounced(
  inbox: Context['inbox'],
  installationId: string,
  last: ReadonlyMap<string, LastRead>,
): Promise<ReadonlySet<string>> {
  const seldom = [...last].filter(([, { everyMs }]) => everyMs !== null);
  const questions = seldom.map(([, { dataAsOf }]) => ({ since: dataAsOf ?? 0 }));
  const came = questions.length === 0 ? [] : await inbox.haveCome(installationId, questions);
  return new Set(seldom.flatMap(([resource], index) => (came[index] === true ? [resource] : [])));
}

/** Not there while others are: not offered. Not there while nothing is: something else is wrong. */
async function noteAbsent(
  { mirror, now }: Context,
  { task }: Step,
  { absent, answered, failures }: Observed,
): Promise<void> {
  const last = absent.size === 0 ? null : await mirror.states(task.organizationId);
  for (const [resource, error] of absent) {
    const isKnown = last?.get(resource)?.declined === 'not_offered';
    if (answered || isKnown) await mirror.mark('not_offered', task, [resource], now());
    else failures.set(resource, error);
  }
}

const EVERYTHING: Wish = { resources: null, full: false };

/** A refusal is believed when a new token and another look at the permissions do not help. Any other fault is kept for later. */
function readResource(step: Step, resource: Resource): Promise<void> {
  return resource === 'projects' ? readProjects(step) : readList(step, resource);
}

async function readOne(step: Step, resource: Resource, gate: Gate, observed: Observed): Promise<void> {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      await readResource(step, resource);
      observed.answered ||= resource !== 'projects';
      return;
    } catch (error) {
      if (!(await isRefusal(step, resource, error, observed))) return;
    }
    const { installation } = await gate.again();
    if (!isPermitted(installation.permissions, resource)) {
      await step.mirror.mark('no_permission', step.task, [resource], step.now());
      return;
    }
  }
  await step.mirror.mark('refused', step.task, [resource], step.now());
}

async function isRefusal(
  step: Step,
  resource: Resource,
  error: unknown,
  { absent, failures }: Observed,
): Promise<boolean> {
  step.signal.throwIfAborted();
  if (endsJob(error)) throw error;
  const code = codeOf(error);
  if (code === 'forbidden') return true;
  if (code === 'other_form' && isStrange(step.noted.before.get(resource))) {
    await step.mirror.mark('not_offered', step.task, [resource], step.now());
  } else (code === 'not_found' ? absent : failures).set(resource, error);
  return false;
}

/** Whether the resource was never read as a whole, or came in another form the last time too. */
function isStrange(before: LastRead | undefined): boolean {
  return before === undefined || before.dataAsOf === null || before.isStrange;
}

function stepOf(
  { inbox, mirror, client, now, onRead }: Context,
  { job, signal, turn, cause, wish }: CausedJob,
  { organizationId, installation }: Opened,
  observed: Observed,
): Step {
  return {
    inbox,
    mirror,
    client,
    now,
    installationId: installation.id,
    organizationId,
    task: { organizationId, part: job.part, claim: job.claim },
    organization: client.organization(installation.id, organizationId),
    trigger: job.trigger,
    cause,
    full: wish.full,
    signal,
    turn,
    noted: notedIn(observed, onRead),
  };
}
