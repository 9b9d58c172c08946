/** Reads the events that a subscription has to send next. */
import { createChangeEvent } from '../catalogue/change-event.js';
import {
  createOccurrenceEvent,
  type EventContent,
  formatErasedBody,
  formatEventBody,
  type EventPosition,
} from '../catalogue/event.js';
import type { Hold } from '../port.js';
import type { PendingEvent, SenderContext } from './sender-types.js';

/** How many events are read at once. Their bodies are built now, so they must be sent soon. */
const PAGE_SIZE = 100;
/** How many changes are read at once if they have no events of this subscription. */
const MAX_SCANNED = 5_000;

/** Whether a subscription selects a type of event. */
export type EventSelection = (type: string) => boolean;

/** The numbers of the last processed change and the last processed occurrence. */
export interface Cursors {
  readonly change: number;
  readonly occurrence: number;
}

/** A page of events to send. */
export interface PendingPage {
  readonly events: readonly PendingEvent[];
  /** Where the page ends. Everything up to there was read. */
  readonly end: Cursors;
  /** Whether there is more between the end and the newest numbers. */
  readonly isTruncated: boolean;
}

interface EventPageRequest {
  readonly after: Cursors;
  readonly to: Cursors;
  /** Null for all organizations. */
  readonly organizationId: string | null;
  readonly isSelected: EventSelection;
}

/** The sources of events: the stored occurrences and the change log. */
type EventStores = Pick<SenderContext, 'port' | 'changes'>;

/**
 * Reads a page of the next events. Occurrences, which are events such as a failed job that are not about a changed row, come first.
 * Changes of rows follow. Both are sorted by number.
 */
export async function readEventPage(source: EventStores, request: EventPageRequest): Promise<PendingPage> {
  const occurrences = await readOccurrenceEvents(source, request);
  const changes = await readChangeEvents(source, request);
  return {
    events: [...occurrences.events, ...changes.events],
    end: { occurrence: occurrences.end, change: changes.end },
    isTruncated: occurrences.isTruncated || changes.isTruncated,
  };
}

/**
 * Reads a page of the next occurrences, which are events that are no changes of rows, such as a failed job. `end` is the number
 * up to which all occurrences were read.
 */
async function readOccurrenceEvents(
  { port }: EventStores,
  { after, to, organizationId, isSelected }: EventPageRequest,
) {
  const range = { after: after.occurrence, to: to.occurrence, limit: PAGE_SIZE };
  const rows = range.after < range.to ? await port.listOccurrences(range) : [];
  const isTruncated = rows.length === PAGE_SIZE;
  const events = rows
    .filter(row => organizationId === null || row.organization_id === organizationId)
    .map(row => toPendingEvent(createOccurrenceEvent(row), { stream: 'occurrence', number: row.number }))
    .filter(({ type }) => isSelected(type));
  const end = isTruncated ? (rows.at(-1)?.number ?? range.to) : Math.max(range.after, range.to);
  return { events, end, isTruncated };
}

/** Reads a page of the next events from the change log of the mirror. `end` is the number up to which all changes were read. */
async function readChangeEvents(
  { changes }: EventStores,
  { after, to, organizationId, isSelected }: EventPageRequest,
) {
  const events: PendingEvent[] = [];
  // Only the log of changes has no events without an organization.
  if (organizationId === '' || after.change >= to.change)
    return { events, end: Math.max(after.change, to.change), isTruncated: false };
  let scanned = 0;
  for await (const record of changes.read({ after: after.change, to: to.change, organizationId })) {
    const content = createChangeEvent(record);
    const { number } = record;
    if (content !== null && isSelected(content.type))
      events.push(toPendingEvent(content, { stream: 'change', number }));
    scanned += 1;
    if (events.length >= PAGE_SIZE || scanned >= MAX_SCANNED)
      return { events, end: number, isTruncated: number < to.change };
  }
  return { events, end: to.change, isTruncated: false };
}

/** Combines an event with its position in its stream and its formatted body, so that it can be sent. */
function toPendingEvent(content: EventContent, position: EventPosition): PendingEvent {
  const { type, organizationId } = content;
  return { ...position, type, organizationId, body: formatEventBody(content) };
}

/**
 * Reads a page of the waiting events of a held organization, up to `to`. If the refused event was erased before it was delivered, adds
 * it at the front with an erased body.
 */
export async function readHeldEvents(
  source: EventStores,
  hold: Hold,
  to: Cursors,
  isSelected: EventSelection,
): Promise<PendingPage> {
  const after = { change: hold.change_position, occurrence: hold.occurrence_position };
  const organizationId = hold.organization_id;
  const page = await readEventPage(source, { after, to, organizationId, isSelected });
  const { refused_stream: stream, refused_number: number, refused_type: type } = hold;
  const isThere = page.events.some(event => event.stream === stream && event.number === number);
  // The hold keeps its refused event after that was delivered, until the events that waited behind it are delivered too.
  if (isThere || stream === 'epoch' || number <= after[stream]) return page;
  // An attempt was made, so the subscriber may know the event. It was erased since.
  const erased = { stream, number, type, organizationId, body: formatErasedBody(type) };
  return { ...page, events: [erased, ...page.events] };
}
