import { PAGE_ROWS } from '../registry/reading.js';
import type { Context } from './context.js';
import type { Findings } from './findings.js';
import { followUp } from './follow-up.js';
import { type Admitted, createGate, type Gate } from './gate.js';
import { installationOf } from './installation-of.js';
import { createInterlude } from './interlude.js';
import { describe, RULES, StopError } from './outcome.js';
import { isPermitted, plan, readWish, type Resource } from './plan.js';
import type { StepContext } from './steps/step.js';
import { readResource } from './steps/steps.js';
import type { Run } from './worker.js';

/**
 * Look at one installation: what it allows, then everything that it allows to be read.
 * A step that fails stops no other step, and only what failed is asked for again.
 */
export async function look(context: Context, run: Run): Promise<string> {
  const installationId = installationOf(run);
  const gate = createGate(context, run, installationId);
  const findings: Findings = { failures: new Map(), holdEnd: null, retired: false };
  try {
    const admitted = await gate.enter();
    if (admitted === null) return gate.state();
    await readAll(context, run, gate, admitted, findings);
    return await followUp(context, run, admitted, findings);
  } catch (error) {
    if (error instanceof StopError && error.code === 'access_gone') return gate.state();
    throw error;
  }
}

async function readAll(
  context: Context,
  run: Run,
  gate: Gate,
  admitted: Admitted,
  findings: Findings,
): Promise<void> {
  const { mirror, standing, now } = context;
  const { organizationId, installation } = admitted;
  const { read, forbidden } = plan({
    wish: readWish(run.job.payload),
    scheduled: run.job.trigger === 'schedule',
    permissions: installation.permissions,
    permissionsChanged: admitted.permissionsChanged,
    mirrorMembers: context.mirrorMembers,
    now: now(),
    last: resource => standing.lastRead(organizationId, resource),
  });
  const step = stepContext(context, run, admitted, findings);
  for (const resource of forbidden) mirror.markForbidden(step.task, resource, now());
  const interlude = createInterlude(context, { gate, run, step });
  for (const resource of read) {
    await interlude.turn();
    await readOne({ ...step, turn: () => interlude.turn(resource) }, resource, gate, findings);
  }
}

/** A refusal is believed when a new token and another look at the permissions do not help. */
async function readOne(step: StepContext, resource: Resource, gate: Gate, findings: Findings): Promise<void> {
  for (let tries = 0; tries < 2; tries += 1) {
    if (await isAnswered(step, resource, findings)) return;
    const { installation } = await gate.again();
    if (!isPermitted(installation.permissions, resource)) {
      step.mirror.markForbidden(step.task, resource, step.now());
      return;
    }
  }
  step.mirror.markRefused(step.task, resource, step.now());
}

/** False where the registry refused it. Any other fault is kept for later. */
async function isAnswered(step: StepContext, resource: Resource, { failures }: Findings): Promise<boolean> {
  try {
    await readResource(resource, step);
  } catch (error) {
    step.signal.throwIfAborted();
    const { code } = describe(error);
    if (RULES[code].reach === 'run') throw error;
    if (code === 'forbidden') return false;
    failures.set(resource, error);
  }
  return true;
}

function stepContext(
  { inbox, mirror, standing, client, now, onRead = () => undefined }: Context,
  { job, signal, turn }: Run,
  { organizationId, installation }: Admitted,
  findings: Findings,
): StepContext {
  const { full } = readWish(job.payload);
  return {
    organizationId,
    task: { organizationId, lane: job.lane, claim: job.claim },
    organization: client.organization(installation.id, organizationId),
    open: client.token,
    mirror,
    trigger: job.trigger,
    full,
    announced: resource => {
      const completeAt = standing.lastRead(organizationId, resource)?.completeAt ?? null;
      return completeAt !== null && inbox.hasDeliverySince(installation.id, completeAt);
    },
    pageSize: resource => (full ? null : standing.lastRead(organizationId, resource)?.pageSize) ?? PAGE_ROWS,
    now,
    onRead,
    registryNow: () => now() + (client.http.clockSkewMs() ?? 0),
    signal,
    turn,
    onRetired: () => {
      findings.retired = true;
    },
    onHoldEnd: at => {
      findings.holdEnd = Math.min(findings.holdEnd ?? at, at);
    },
  };
}
