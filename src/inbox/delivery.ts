export const VERDICTS = ['accepted', 'ignored'] as const;
type Verdict = (typeof VERDICTS)[number];

/** Duplicates share one row for at most this long, so a query since an instant misses a duplicate for no longer. */
export const FOLD_WINDOW_MS = 60_000;
/** A text that also arrived within the previous hour is a duplicate. */
export const DUPLICATE_WINDOW_MS = 3_600_000;

/** A verified webhook that is to be stored. All of it was signed, except `contradictedFields`. */
export interface NewDelivery {
  /** How long ago the receiver had read the whole body. */
  readonly receivedMsAgo: number;
  readonly event: string | null;
  readonly installationId: string | null;
  readonly organizationId: string | null;
  /** The signed text as it was sent. */
  readonly signedData: string;
  /** The SHA-256 of the signed text, in hex. */
  readonly sha256: string;
  /** Names of unsigned fields that contradicted the signed ones. */
  readonly contradictedFields: string | null;
  readonly verdict: Verdict;
  /** Why the delivery is ignored; null if and only if it is accepted. */
  readonly reason: string | null;
  /** Index of the secret that verified the signature. */
  readonly secretIndex: number;
}

export interface StoredDelivery {
  /** The id of the row. Duplicates that wait for the same job share one. */
  readonly id: number;
  /** The job that will start after the delivery arrived; null if the delivery was ignored. */
  readonly jobId: number | null;
  /** Whether the delivery was counted in an existing row. */
  readonly isDuplicate: boolean;
}

export interface StoreFailure {
  /** The error code of the database, if it gave one. */
  readonly code: string;
  readonly message: string;
}

export type StoreResult = StoredDelivery | { readonly failure: StoreFailure };

/** Converts a thrown value to a failure. Its code is the error's `code`, or else its name. */
export function describeFailure(error: unknown): StoreFailure {
  if (!(error instanceof Error)) return { code: 'unknown', message: String(error) };
  return { code: 'code' in error ? String(error.code) : error.name, message: error.message };
}

/** Asks whether a delivery arrived at or after an instant (epoch ms). */
export interface DeliveryQuery {
  readonly since: number;
  /** Counts only deliveries of this event. */
  readonly event?: string;
  /** Leaves out duplicates of a delivery that still waits to be read. */
  readonly isNew?: boolean;
}

/** A range of deliveries by arrival time; both instants are included. */
export interface DeliveryRange {
  readonly since: string;
  readonly until: string;
  /** Of the deliveries that arrived at exactly `since`, only those with a higher id belong to the range. */
  readonly afterId: number;
}

/** An accepted delivery: its installation and when it arrived. */
export type AcceptedDelivery = Pick<DeliveryRecord, 'receivedAt'> & { readonly installationId: string };

/** A delivery of a range, as its row has it. */
export interface DeliveryRecord {
  readonly id: number;
  readonly installationId: string | null;
  readonly receivedAt: string;
  readonly verdict: string;
}

/** One slice of a range of deliveries. */
export interface DeliverySlice {
  readonly deliveries: readonly AcceptedDelivery[];
  /** The rest of the range; null after its last slice. */
  readonly next: DeliveryRange | null;
}

/** Converts the rows of a slice to its accepted deliveries. A slice that is not full is the last of its range. */
export function toDeliverySlice(rows: readonly DeliveryRecord[], until: string): DeliverySlice {
  const lastOfFullSlice = rows[DELIVERY_SLICE - 1];
  return {
    deliveries: rows.flatMap(({ installationId, receivedAt, verdict }) =>
      verdict === 'accepted' && installationId !== null ? [{ installationId, receivedAt }] : [],
    ),
    next:
      lastOfFullSlice === undefined
        ? null
        : { since: lastOfFullSlice.receivedAt, until, afterId: lastOfFullSlice.id },
  };
}

/** How many deliveries are searched for the newest one of a job; this takes a few milliseconds. */
export const MAX_SEARCHED_DELIVERIES = 10_000;

/** Rows in one slice of a range; reading them takes a few milliseconds. */
export const DELIVERY_SLICE = 2000;

export interface SignedText {
  readonly id: number;
  readonly signedData: string;
}
