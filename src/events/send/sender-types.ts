import type { EventPosition } from '../catalogue/event.js';
import type { ChangeRecord } from '../catalogue/change-event.js';
import type { EventsPort } from '../port.js';

/** The change log of the mirror. */
export interface ChangeLog {
  /** Returns the newest number in use. Every change with a lower one is committed. */
  readonly readNewest: () => Promise<number>;
  /** Reads changes in the order of their numbers, above `after` and up to `to`. */
  readonly read: (range: ChangeRange) => AsyncIterable<ChangeRecord>;
}

interface ChangeRange {
  readonly after: number;
  readonly to: number;
  /** Null for all organizations. */
  readonly organizationId: string | null;
}

/** Posts events. An answer is reduced to its status, or to the reason why there was none. */
export interface EventPost {
  readonly post: (request: EventRequest) => Promise<EventPostResult>;
  readonly close: () => void;
}

interface EventRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type EventPostResult = { readonly status: number } | { readonly error: string };

export interface SenderLog {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

/** Everything that a sender needs from outside. */
export interface SenderContext {
  readonly port: EventsPort;
  readonly changes: ChangeLog;
  /** Opens connections for one subscription. */
  readonly openPost: () => EventPost;
  readonly key: Uint8Array;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Buffer;
  readonly log: SenderLog;
}

/** An event that is ready to be sent. */
export interface PendingEvent extends EventPosition {
  readonly type: string;
  readonly organizationId: string;
  readonly body: string;
}
