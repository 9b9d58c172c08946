import type { Fault } from '../../mirror/port.js';
import type { Outcome, Read } from '../../mirror/list-read.js';
import type { Ask } from '../../mirror/missing.js';
import type { Items, ListResource } from '../../resources/lists.js';
import { PAGE_ROWS, type ReadOptions } from '../../registry/reading.js';
import { observe } from '../observe.js';
import { describe, UnsettledError } from '../outcome.js';
import { badAnswer, goodAnswer } from './answer.js';
import type { StepContext } from './step.js';

export interface Listed {
  /** How many rows the registry says the list has; null where it does not say. */
  readonly total: number | null;
  /** Rows that a page was asked for; absent where there are no pages. */
  readonly pageSize?: number;
  readonly ask?: Ask;
  /** Why this is not the whole list. */
  readonly flaw?: Fault | null;
}

export type Pass<Item> = (read: Read<Item>, options: Required<ReadOptions>) => Promise<Listed>;

/** A list that moves while it is read is read again at once, this often; then later. */
const PASSES = 3;

/** Read a whole list and write what changed. An answer that breaks off leaves true rows and says so. */
export async function readList<R extends ListResource>(
  context: StepContext,
  resource: R,
  pass: Pass<Items[R]>,
): Promise<Outcome> {
  for (let number = 1; ; number += 1) {
    const outcome = await readOnce(context, resource, pass);
    if (outcome.state === 'complete') return outcome;
    if (outcome.readAgain && number < PASSES) continue;
    throw new UnsettledError(outcome.state, outcome.fault?.message ?? 'the list moved while it was read');
  }
}

async function readOnce<R extends ListResource>(
  context: StepContext,
  resource: R,
  pass: Pass<Items[R]>,
): Promise<Outcome> {
  const { mirror, task, trigger, cause, now, mask, signal } = context;
  const { options, traffic, status, ownerTold } = observe(signal, now);
  const startedAt = now();
  const completeAt = (await context.lastRead(resource))?.completeAt ?? null;
  const read = await mirror.beginRead({
    organizationId: task.organizationId,
    claim: task.claim,
    resource,
    trigger,
    cause,
    startedAt,
    announced: completeAt !== null && context.deliveredSince(completeAt),
  });
  try {
    const listed = await pass(read, options);
    const { total, ask, pageSize, flaw } = listed;
    const isTold = ownerTold();
    const outcome = await read.finish({
      total,
      ...(ask === undefined ? {} : { ask }),
      ...(flaw === undefined ? {} : { flaw }),
      ...(isTold || context.full ? { ownerTold: isTold } : {}),
      ...(pageSize === undefined ? {} : { pageSize: pageSize === PAGE_ROWS ? null : pageSize }),
      answer: goodAnswer(resource, { total, status: status(), at: now() }),
      ...traffic(),
    });
    context.onRead({ ...outcome, resource, ms: now() - startedAt });
    return outcome;
  } catch (error) {
    context.onRead({ ...NO_ROWS, resource, state: 'failed', ms: now() - startedAt });
    const { code, message } = describe(signal.aborted ? signal.reason : error);
    await read.abandon(
      { code, message },
      { ...traffic(), answer: badAnswer(error, { status: status(), at: now(), mask }) },
    );
    throw error;
  }
}

const NO_ROWS = { added: 0, changed: 0, removed: 0, drift: 0 };
