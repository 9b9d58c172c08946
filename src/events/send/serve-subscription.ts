/** Sends the events of one subscription until nothing is due. The caller has claimed it. */
import { createEpochEvent, formatEventBody, formatEventId } from '../catalogue/event.js';
import { createEventHeaders, deriveSecret } from '../signing.js';
import { type Epoch, EPOCH_HOLD, type Hold, type Subscription, type SubscriptionClaim } from '../port.js';
import { type AttemptOutcome, createProgress, type ProgressTracker } from './progress.js';
import {
  type Cursors,
  type EventSelection,
  type PendingPage,
  readHeldEvents,
  readEventPage,
} from './read-pending.js';
import type { EventPost, PendingEvent, SenderContext } from './sender-types.js';
import { isUnreachable, listDueHolds } from './subscriber-state.js';

/** How many organizations of a subscription are sent at the same time. */
export const PARALLEL_ORGANIZATIONS = 4;
/** How long the bodies of a page may be used. Later ones are built again, because their content may have been erased. */
const MAX_PAGE_AGE_MS = 2_000;
const SAVE_INTERVAL_MS = 1_000;
const [FIRST_SUCCESS, FIRST_REDIRECT] = [200, 300];

/** The events of one organization, which are sent one after the other. */
interface OrganizationQueue {
  readonly organizationId: string;
  readonly events: PendingEvent[];
  /** Whether the organization is no longer held once these events are delivered. */
  readonly endsHold: boolean;
}

export interface ServeOptions {
  readonly subscription: Subscription;
  readonly holds: readonly Hold[];
  readonly claim: SubscriptionClaim;
  readonly signal: AbortSignal;
}

/** Sends the events of a claimed subscription until none is due, the claim is lost, or the signal is aborted. */
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
  const send = createEventSender(context, subscription, connection);
  let isLost = false;
  let savedAt = now();
  let saving: Promise<unknown> = Promise.resolve();
  const mustStop = () => signal.aborted || isLost || progress.isPaused;

  /**
   * Saves the progress of the subscription once earlier saves have ended. If `page` is not null, first moves the cursors past
   * its events that were delivered or are held.
   */
  async function saveProgress(page: PendingPage | null): Promise<void> {
    savedAt = now();
    const saved = saveProgressAfter(saving, page);
    saving = saved.catch(() => undefined);
    await saved;
  }

  /**
   * Waits for `previous`, the save before this one. Then moves the cursors over `page`, unless it is null, and saves; if the
   * claim is lost, no more events are sent.
   */
  async function saveProgressAfter(previous: Promise<unknown>, page: PendingPage | null): Promise<void> {
    await previous;
    if (page !== null) progress.moveCursors(page);
    if (!progress.hasUnsaved || isLost) return;
    if (!(await port.save(progress.takeUnsaved()))) isLost = true;
  }

  /**
   * Sends the events of one organization in order, until one is refused, the deadline has passed or the sender must stop.
   * Returns whether all were delivered.
   */
  async function sendQueue(
    { events: pending }: OrganizationQueue,
    page: PendingPage,
    before: Cursors,
    deadline: number,
  ) {
    for (const event of pending) {
      if (progress.wasDelivered(event)) continue;
      if (mustStop() || now() > deadline) return false;
      const outcome = await send(event, progress.epoch);
      if (outcome.error === 'stopped') return false;
      if (outcome.error !== null) {
        progress.recordRefused(event, outcome, getPositionBeforeEvent(event, page, before));
        return false;
      }
      progress.recordDelivered(event, outcome);
      if (progress.mustSave || now() - savedAt >= SAVE_INTERVAL_MS) await saveProgress(page);
    }
    return true;
  }

  /**
   * Sends the due events of held organizations and the next page of events, then saves the progress. Returns whether there may
   * be more events.
   */
  async function runRound(epoch: Epoch): Promise<boolean> {
    const newest = await context.changes.readNewest();
    const startedAt = now();
    const { queues, page } = await collectQueues(context, progress, { newest, epoch, isSelected, startedAt });
    const before = { ...progress.cursors };
    const remainingQueues = queues.values();
    const work = Array.from({ length: PARALLEL_ORGANIZATIONS }, async () => {
      for (const queue of remainingQueues) {
        const isNew = !progress.isHeld(queue.organizationId);
        if (isNew && isUnreachable(progress.facts)) continue;
        const isDone = await sendQueue(queue, page, before, startedAt + MAX_PAGE_AGE_MS);
        if (isDone && queue.endsHold) progress.endHold(queue.organizationId);
      }
    });
    await Promise.all(work);
    await saveProgress(page);
    return queues.length > 0 || page.isTruncated;
  }

  try {
    while (!mustStop()) {
      const epoch = await port.readEpoch();
      if (epoch === null) break;
      if (epoch.epoch !== progress.epoch) {
        if (!(await announceEpoch(epoch))) break;
      } else if (!(await runRound(epoch))) break;
    }
  } finally {
    signal.removeEventListener('abort', connection.close);
    connection.close();
    await saving;
    if (!isLost) await port.release(claim);
  }

  /**
   * Sends the event that announces a new epoch, the first part of event ids, and saves the outcome. Returns false if the event
   * was not delivered.
   */
  async function announceEpoch(epoch: Epoch): Promise<boolean> {
    const content = createEpochEvent(epoch);
    const body = formatEventBody(content);
    const position = { stream: 'epoch', number: 0 } as const;
    const event = { ...position, type: content.type, organizationId: EPOCH_HOLD, body };
    const outcome = await send(event, epoch.epoch);
    if (outcome.error === 'stopped') return false;
    if (outcome.error !== null) progress.recordRefused(event, outcome, progress.cursors);
    else {
      progress.recordDelivered(event, outcome);
      progress.endHold(EPOCH_HOLD);
      progress.setEpoch(epoch.epoch);
    }
    await saveProgress(null);
    return outcome.error === null;
  }
}

/**
 * Returns cursors that point directly before `event`, so that sending to its organization resumes with `event`. `before` are the
 * cursors at the start of the page.
 */
function getPositionBeforeEvent(event: PendingEvent, page: PendingPage, before: Cursors): Cursors {
  if (event.stream === 'change') return { change: event.number - 1, occurrence: page.end.occurrence };
  return { change: before.change, occurrence: event.number - 1 };
}

/** The newest change number and other facts that one round of sending starts from. */
interface RoundOptions {
  readonly newest: number;
  readonly epoch: Epoch;
  readonly isSelected: EventSelection;
  readonly startedAt: number;
}

/**
 * Collects the events to send in one round, by organization: the next page, and the events of held organizations that are due.
 */
async function collectQueues(
  context: SenderContext,
  progress: ProgressTracker,
  { newest, epoch, isSelected, startedAt }: RoundOptions,
): Promise<{ readonly queues: readonly OrganizationQueue[]; readonly page: PendingPage }> {
  const queues = new Map<string, OrganizationQueue>();
  const heldRanges = new Map<string, { readonly delivered: Cursors; readonly end: Cursors }>();
  const after = { ...progress.cursors };
  for (const hold of listDueHolds(progress.facts, new Date(startedAt).toISOString())) {
    const to = includeRefusedEvent(hold, after);
    const { events, end, isTruncated } = await readHeldEvents(context, hold, to, isSelected);
    const organizationId = hold.organization_id;
    queues.set(organizationId, { organizationId, events: [...events], endsHold: !isTruncated });
    const delivered = { change: hold.change_position, occurrence: hold.occurrence_position };
    heldRanges.set(organizationId, { delivered, end });
  }
  const nothing = { events: [], end: after, isTruncated: false };
  if (isUnreachable(progress.facts))
    // The page is not read, so a held organization may have more events after the cursors.
    return { queues: [...queues.values()], page: nothing };
  const to = { change: newest, occurrence: epoch.newest_occurrence };
  const page = await readEventPage(context, { after, to, organizationId: null, isSelected });
  for (const event of page.events) {
    const { organizationId } = event;
    const held = heldRanges.get(organizationId);
    // The cursors may be before events that were delivered or read with the hold, while an event of another organization is open.
    if (held !== undefined && isPassedBy(event, held.delivered)) progress.markDelivered(event);
    if (held !== undefined && isPassedBy(event, held.end)) continue;
    const queue = queues.get(organizationId);
    if (queue === undefined && progress.isHeld(organizationId)) continue;
    if (queue === undefined) queues.set(organizationId, { organizationId, events: [event], endsHold: false });
    else if (queue.endsHold || !progress.isHeld(organizationId)) queue.events.push(event);
  }
  return { queues: [...queues.values()], page };
}

/** Returns whether cursors have passed an event. */
function isPassedBy({ stream, number }: PendingEvent, cursors: Cursors): boolean {
  return stream !== 'epoch' && number <= cursors[stream];
}

/**
 * Returns the cursors up to which the events of a held organization are read: `cursors`, or the refused event if the cursors have not
 * passed it yet.
 */
function includeRefusedEvent(
  { refused_stream: stream, refused_number: number }: Hold,
  cursors: Cursors,
): Cursors {
  return stream === 'epoch' ? cursors : { ...cursors, [stream]: Math.max(cursors[stream], number) };
}

/**
 * Creates the function that signs an event, posts it to the subscriber and returns the outcome. For a time after a rotation, it
 * also signs with the previous secret.
 */
function createEventSender({ key, now }: SenderContext, subscription: Subscription, connection: EventPost) {
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
