/** The port through which subscriptions and their progress are stored. Rows have the columns of the tables in schema `events`. */

export type EpochReason = 'created' | 'restored' | 'moved' | 'mirror_replaced';

/** The current epoch. Event ids consist of its name and a number. */
export interface Epoch {
  readonly epoch: string;
  readonly began_at: string;
  readonly reason: EpochReason;
  readonly newest_change: number;
  readonly newest_occurrence: number;
  readonly evaluated_at: string | null;
}

export interface NewEpoch {
  readonly epoch: string;
  readonly at: string;
  readonly reason: EpochReason;
  readonly newestChange: number;
}

export interface NewSubscription {
  readonly id: string;
  readonly url: string;
  /** The types of events, as a JSON array. */
  readonly events: string;
  readonly created_at: string;
  readonly key_check: string;
  readonly epoch: string;
  readonly change_cursor: number;
  readonly occurrence_cursor: number;
}

export interface Subscription extends NewSubscription {
  readonly state: 'active' | 'paused';
  readonly pause_reason: string | null;
  readonly generation: number;
  readonly previous_until: string | null;
  readonly claim: number;
  readonly claimed_until: string | null;
  readonly delivered: number;
  readonly refused: number;
  readonly delivered_at: string | null;
}

/** The source of an event: the change log of the mirror, the numbered occurrences, or the begin of an epoch. */
export type EventStream = 'change' | 'occurrence' | 'epoch';

/** Stands for the organization of a hold while a subscriber refuses to be told of an epoch. */
export const EPOCH_HOLD = '*';

/** An organization whose events wait because the subscriber refused one of them. */
export interface Hold {
  readonly subscription_id: string;
  readonly organization_id: string;
  readonly state: 'waiting' | 'paused';
  /** The number of the last change of the organization that was settled. */
  readonly change_position: number;
  readonly occurrence_position: number;
  readonly refused_stream: EventStream;
  readonly refused_number: number;
  readonly refused_type: string;
  readonly attempts: number;
  readonly failing_since: string;
  readonly failed_at: string;
  readonly next_attempt_at: string;
  readonly status: number | null;
  readonly error: string;
}

export interface Attempt {
  readonly subscription_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly attempted_at: string;
  readonly duration_ms: number;
  readonly status: number | null;
  /** Null if the event was delivered. */
  readonly error: string | null;
}

/** A new event that is no change of a row. */
export interface NewOccurrence {
  readonly type: string;
  /** Empty if the event concerns no single organization. */
  readonly organization_id: string;
  readonly subject: string;
  readonly detail: string;
  readonly occurred_at: string;
}

export interface Occurrence extends NewOccurrence {
  readonly number: number;
}

/** The right to send to a subscription. A write with an older claim is refused. */
export interface SubscriptionClaim {
  readonly id: string;
  readonly claim: number;
}

/** The progress of a sender since it last saved. */
export interface SubscriptionProgress extends SubscriptionClaim {
  readonly epoch: string;
  readonly changeCursor: number;
  readonly occurrenceCursor: number;
  /** Holds that are new or have changed. */
  readonly holds: readonly Hold[];
  /** Ids of the organizations that are no longer held. */
  readonly released: readonly string[];
  readonly attempts: readonly Attempt[];
  /** Pauses the subscription with this reason; null leaves it active. */
  readonly pauseReason: string | null;
}

/** The results of an evaluation of freshness and jobs. */
export interface Evaluation {
  readonly at: string;
  /** Evaluates only if the last evaluation is this old, so that several workers share the work. */
  readonly dueBefore: string;
  readonly staleLists: readonly StaleList[];
  /** Lists that are fresh. A list that is neither stale nor fresh, such as one without access, stays as it was. */
  readonly freshLists: readonly Omit<StaleList, 'reason'>[];
  readonly failedJobs: readonly NewOccurrence[];
}

interface StaleList {
  readonly organization_id: string;
  readonly resource: string;
  readonly reason: string;
}

interface OccurrenceRange {
  readonly after: number;
  readonly to: number;
  readonly limit: number;
}

export interface EventsPort {
  /** Returns null if no epoch ever began. */
  readonly readEpoch: () => Promise<Epoch | null>;
  /** Returns the current epoch. Begins the given one if there is none. */
  readonly ensureEpoch: (first: NewEpoch) => Promise<Epoch>;
  /** Begins a new epoch. No cursor stays above the newest change. */
  readonly beginEpoch: (next: NewEpoch) => Promise<void>;
  readonly add: (subscription: NewSubscription) => Promise<void>;
  readonly list: () => Promise<readonly Subscription[]>;
  readonly listHolds: () => Promise<readonly Hold[]>;
  /** Returns the newest attempts of a subscription, the newest first. */
  readonly listAttempts: (subscriptionId: string, limit: number) => Promise<readonly Attempt[]>;
  readonly remove: (id: string) => Promise<void>;
  readonly pause: (id: string, reason: string) => Promise<void>;
  /** Makes a subscription and its held organizations active. Attempts start anew at the given instant. */
  readonly resume: (id: string, at: string) => Promise<void>;
  readonly rotate: (id: string, previousUntil: string) => Promise<void>;
  /** Moves the cursors back, and the positions of held organizations with them. */
  readonly replay: (id: string, changeCursor: number, occurrenceCursor: number) => Promise<void>;
  /** Claims a subscription for a time. Returns null if it is paused, removed or claimed by another sender. */
  readonly claim: (id: string, leaseMs: number) => Promise<SubscriptionClaim | null>;
  /** Extends the lease. Returns false if the claim was lost. */
  readonly renew: (claim: SubscriptionClaim, leaseMs: number) => Promise<boolean>;
  readonly release: (claim: SubscriptionClaim) => Promise<void>;
  /** Saves progress in one transaction. Returns false and saves nothing if the claim was lost. */
  readonly save: (progress: SubscriptionProgress) => Promise<boolean>;
  readonly listOccurrences: (range: OccurrenceRange) => Promise<readonly Occurrence[]>;
  /** Returns the number of the newest occurrence before an instant; 0 if there is none. */
  readonly findOccurrenceBefore: (instant: string) => Promise<number>;
  /** Records occurrences. Returns how many were new. */
  readonly record: (occurrences: readonly NewOccurrence[]) => Promise<number>;
  /** Records what has changed since the last evaluation. Returns null if another worker has evaluated in the meantime. */
  readonly evaluate: (evaluation: Evaluation) => Promise<number | null>;
  /** Deletes attempts and occurrences from before an instant. */
  readonly prune: (before: string) => Promise<void>;
  readonly close: () => Promise<void>;
}
