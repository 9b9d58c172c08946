import type { Epoch, EventStream, Occurrence } from '../port.js';
import { type EventType, isEventType } from './catalogue.js';

/** The content of an event. */
export interface EventContent {
  readonly type: EventType;
  /** Empty if the event concerns no single organization. */
  readonly organizationId: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The place of an event in its source. */
export interface EventPosition {
  readonly stream: EventStream;
  readonly number: number;
}

/**
 * Formats the id of an event from its epoch and its position. The id must contain no full stop, because full stops separate the parts of
 * the text that is signed.
 */
export function formatEventId(epoch: string, { stream, number }: EventPosition): string {
  const letters: Readonly<Record<EventStream, string>> = { change: '', occurrence: 'n', epoch: 'e' };
  return `${epoch}_${letters[stream]}${number}`;
}

export function formatEventBody({ type, timestamp, data }: Omit<EventContent, 'organizationId'>): string {
  return JSON.stringify({ type, timestamp, data });
}

/** Returns the body of an event whose content was removed from the mirror while it waited. */
export function formatErasedBody(type: string): string {
  return JSON.stringify({ type, erased: true });
}

/** Converts an occurrence, a stored event that is no change of a row, to the content of an event. */
export function createOccurrenceEvent(occurrence: Occurrence): EventContent {
  const { type, organization_id: organizationId, subject, detail, occurred_at: timestamp } = occurrence;
  if (!isEventType(type)) throw new Error(`expected the type of an event, got ${type}`);
  const organization = { organization_id: organizationId };
  const content = { type, organizationId, timestamp };
  if (type === 'freshness.stale')
    return { ...content, data: { ...organization, resource: subject, reason: detail } };
  if (type === 'freshness.recovered') return { ...content, data: { ...organization, resource: subject } };
  if (type === 'job.failed')
    return {
      ...content,
      data: { organization_id: organizationId || null, job_id: Number(subject), code: detail },
    };
  return { ...content, data: organization };
}

/** Creates the event that announces a new epoch, the first part of event ids. */
export function createEpochEvent({ epoch, began_at: timestamp, reason, newest_change }: Epoch): EventContent {
  return { type: 'mirror.restored', organizationId: '', timestamp, data: { epoch, reason, newest_change } };
}
