/** Sends the events of one subscription until nothing is due. The caller has claimed it. */
import { createEpochEvent, formatEventBody, formatEventId } from '../catalogue/event.js';
import { createEventHeaders, deriveSecret } from '../signing.js';
import { type Epoch, EPOCH_HOLD, type Hold, type Subscription, type SubscriptionClaim } from '../port.js';
import { type AttemptOutcome, createProgress, type ProgressTracker } from './progress.js';
import { type Cursors, type EventSelection, type PendingPage, readHeld, readPage } from './read-pending.js';
import type { EventPost, PendingEvent, SenderContext } from './sender-types.js';
import { isUnreachable, listDueHolds } from './subscriber-state.js';

/** How many organizations of a subscription are sent at the same time. */
export const PARALLEL_ORGANIZATIONS = 4;
/** How long the bodies of a page may be used. Later ones are built again, because their content may have been erased. */
const MAX_PAGE_AGE_MS = 2_000;
const SAVE_INTERVAL_MS = 1_000;
const [FIRST_SUCCESS, FIRST_REDIRECT] = [200, 300];

/** The events of one organization that are sent one after the other. */
interface Lane {
  readonly organizationId: string;
  readonly events: PendingEvent[];
  /** Whether the lane ends where the cursors will be, so that an organization is no longer held after it. */
  readonly endsHold: boolean;
}

export interface ServeOptions {
  readonly subscription: Subscription;
  readonly holds: readonly Hold[];
  readonly claim: SubscriptionClaim;
  readonly signal: AbortSignal;
}

export async function serveSubscription(
  context: SenderContext,
  { subscription, holds, claim, signal }: ServeOptions,
): Promise<void> {
  const { port, now } = context;
  const events: readonly unknown[] = JSON.parse(subscription.events);
  const isSelected: EventSelection = type => events.includes(type);
  const progress = createProgress(subscription, claim, holds);
  const connection = context.openPost();
  signal.addEventListener('abort', connection.close);
  const send = createSend(context, subscription, connection);
  let isLost = false;
  let savedAt = now();
  let saving: Promise<unknown> = Promise.resolve();
  const mustStop = () => signal.aborted || isLost || progress.isPaused;

  /** Saves progress, one transaction after the other. */
  async function save(page: PendingPage | null): Promise<void> {
    savedAt = now();
    const saved = saveAfter(saving, page);
    saving = saved.catch(() => undefined);
    await saved;
  }

  async function saveAfter(previous: Promise<unknown>, page: PendingPage | null): Promise<void> {
    await previous;
    if (page !== null) progress.advance(page);
    if (!progress.hasUnsaved || isLost) return;
    if (!(await port.save(progress.take()))) isLost = true;
  }

  /** Sends the events of a lane until one is refused. Returns whether all were delivered. */
  async function sendLane({ events: pending }: Lane, page: PendingPage, before: Cursors, deadline: number) {
    for (const event of pending) {
      if (progress.wasDelivered(event)) continue;
      if (mustStop() || now() > deadline) return false;
      const outcome = await send(event, progress.epoch);
      if (outcome.error === 'stopped') return false;
      if (outcome.error !== null) {
        progress.recordRefused(event, outcome, getPositionBefore(event, page, before));
        return false;
      }
      progress.recordDelivered(event, outcome);
      if (progress.mustSave || now() - savedAt >= SAVE_INTERVAL_MS) await save(page);
    }
    return true;
  }

  /** Sends one round: what is due of held organizations, and the next page. Returns whether there may be more. */
  async function runRound(epoch: Epoch): Promise<boolean> {
    const newest = await context.changes.readNewest();
    const startedAt = now();
    const { lanes, page } = await gatherLanes(context, progress, { newest, epoch, isSelected, startedAt });
    const before = { ...progress.cursors };
    const queue = lanes.values();
    const work = Array.from({ length: PARALLEL_ORGANIZATIONS }, async () => {
      for (const lane of queue) {
        const isNew = !progress.isHeld(lane.organizationId);
        if (isNew && isUnreachable(progress.facts)) continue;
        const isDone = await sendLane(lane, page, before, startedAt + MAX_PAGE_AGE_MS);
        if (isDone && lane.endsHold) progress.release(lane.organizationId);
      }
    });
    await Promise.all(work);
    await save(page);
    return lanes.length > 0 || page.isTruncated;
  }

  try {
    while (!mustStop()) {
      const epoch = await port.readEpoch();
      if (epoch === null) break;
      if (epoch.epoch !== progress.epoch) {
        if (!(await tellEpoch(epoch))) break;
      } else if (!(await runRound(epoch))) break;
    }
  } finally {
    signal.removeEventListener('abort', connection.close);
    connection.close();
    await saving;
    if (!isLost) await port.release(claim);
  }

  /** Tells the subscriber of a new epoch. Returns false if it was refused. */
  async function tellEpoch(epoch: Epoch): Promise<boolean> {
    const content = createEpochEvent(epoch);
    const body = formatEventBody(content);
    const position = { stream: 'epoch', number: 0 } as const;
    const event = { ...position, type: content.type, organizationId: EPOCH_HOLD, body };
    const outcome = await send(event, epoch.epoch);
    if (outcome.error === 'stopped') return false;
    if (outcome.error !== null) progress.recordRefused(event, outcome, progress.cursors);
    else {
      progress.recordDelivered(event, outcome);
      progress.release(EPOCH_HOLD);
      progress.setEpoch(epoch.epoch);
    }
    await save(null);
    return outcome.error === null;
  }
}

/** Returns the position of an organization before a refused event of a page. Occurrences are sent before changes. */
function getPositionBefore(event: PendingEvent, page: PendingPage, before: Cursors): Cursors {
  if (event.stream === 'change') return { change: event.number - 1, occurrence: page.end.occurrence };
  return { change: before.change, occurrence: event.number - 1 };
}

interface RoundFacts {
  readonly newest: number;
  readonly epoch: Epoch;
  readonly isSelected: EventSelection;
  readonly startedAt: number;
}

/** Collects the events of a round by organization: those of held organizations that are due, and the next page. */
async function gatherLanes(
  context: SenderContext,
  progress: ProgressTracker,
  { newest, epoch, isSelected, startedAt }: RoundFacts,
): Promise<{ readonly lanes: readonly Lane[]; readonly page: PendingPage }> {
  const lanes = new Map<string, Lane>();
  const after = { ...progress.cursors };
  for (const hold of listDueHolds(progress.facts, new Date(startedAt).toISOString())) {
    const { events, isTruncated } = await readHeld(context, hold, after, isSelected);
    const organizationId = hold.organization_id;
    lanes.set(organizationId, { organizationId, events: [...events], endsHold: !isTruncated });
  }
  const nothing = { events: [], end: after, isTruncated: false };
  if (isUnreachable(progress.facts))
    // The page is not read, so a held organization may have more events after the cursors.
    return { lanes: [...lanes.values()], page: nothing };
  const to = { change: newest, occurrence: epoch.newest_occurrence };
  const page = await readPage(context, { after, to, organizationId: null, isSelected });
  for (const event of page.events) {
    const { organizationId } = event;
    const lane = lanes.get(organizationId);
    if (lane === undefined && progress.isHeld(organizationId)) continue;
    if (lane === undefined) lanes.set(organizationId, { organizationId, events: [event], endsHold: false });
    else if (lane.endsHold || !progress.isHeld(organizationId)) lane.events.push(event);
  }
  return { lanes: [...lanes.values()], page };
}

/** Creates the function that signs and posts an event. */
function createSend({ key, now }: SenderContext, subscription: Subscription, connection: EventPost) {
  const { id, url, generation, previous_until: previousUntil } = subscription;
  const current = deriveSecret(key, id, generation);
  const previous = deriveSecret(key, id, generation - 1);
  return async (event: PendingEvent, epoch: string): Promise<AttemptOutcome> => {
    const startedAt = now();
    const eventId = formatEventId(epoch, event);
    const signsTwice = previousUntil !== null && Date.parse(previousUntil) > startedAt;
    const secrets = signsTwice ? [current, previous] : [current];
    const headers = createEventHeaders({ id: eventId, at: startedAt, body: event.body }, secrets);
    const result = await connection.post({ url, headers, body: event.body });
    const durationMs = now() - startedAt;
    if ('error' in result) return { eventId, startedAt, durationMs, status: null, error: result.error };
    const { status } = result;
    const isDelivered = status >= FIRST_SUCCESS && status < FIRST_REDIRECT;
    return { eventId, startedAt, durationMs, status, error: isDelivered ? null : 'refused' };
  };
}
