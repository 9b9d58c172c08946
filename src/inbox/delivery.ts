export const VERDICTS = ['accepted', 'ignored'] as const;
/** The receiver's decision about a verified webhook. */
type DeliveryVerdict = (typeof VERDICTS)[number];

/**
 * How long duplicates are counted in the row of the first delivery. Queries by arrival time see only when the first delivery
 * arrived, so their results may be wrong by this duration.
 */
export const FOLD_WINDOW_MS = 60_000;
/** A delivery is a duplicate if the same signed text arrived within the previous hour. */
export const DUPLICATE_WINDOW_MS = 3_600_000;

/** A verified webhook to store. Its content comes from the signed text only. */
export interface NewDelivery {
  /** How long ago the receiver finished reading the body. */
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
  readonly verdict: DeliveryVerdict;
  /** Why the delivery is ignored; null if and only if it is accepted. */
  readonly reason: string | null;
  /** Index of the secret that verified the signature. */
  readonly secretIndex: number;
}

/** A stored delivery: its row, and the job that reads what the webhook announced. */
export interface StoredDelivery {
  /** The id of the row. Duplicates that wait for the same job share a row. */
  readonly id: number;
  /** A job that starts after the delivery arrived; null if the delivery was ignored. */
  readonly jobId: number | null;
  /** Whether the delivery was counted in an existing row. */
  readonly isDuplicate: boolean;
}

/** Why a delivery could not be stored. */
export interface StoreFailure {
  /** The error code of the database, if it gave one. */
  readonly code: string;
  readonly message: string;
}

/** The result of storing one delivery. */
export type StoreResult = StoredDelivery | { readonly failure: StoreFailure };

/** Converts a thrown value to a failure. Its code is the error's `code`, or the name of the error if there is no code. */
export function toStoreFailure(error: unknown): StoreFailure {
  if (!(error instanceof Error)) return { code: 'unknown', message: String(error) };
  return { code: 'code' in error ? String(error.code) : error.name, message: error.message };
}

/** A search for deliveries of an installation. */
export interface DeliveryQuery {
  /** The delivery arrived at this instant (epoch milliseconds) or later. */
  readonly since: number;
  /** The delivery has this event; absent allows every event. */
  readonly event?: string;
  /** True excludes duplicates of a delivery that still waits to be read. */
  readonly isNew?: boolean;
}

/** A range of deliveries by arrival time; both instants are included. */
export interface DeliveryRange {
  readonly since: string;
  readonly until: string;
  /** Excludes deliveries that arrived exactly at `since` and have this id or a lower one. */
  readonly afterId: number;
}

/** An accepted delivery: its installation and when it arrived. */
export type AcceptedDelivery = Pick<DeliveryRow, 'receivedAt'> & { readonly installationId: string };

/** A database row of a delivery page. */
export interface DeliveryRow {
  readonly id: number;
  readonly installationId: string | null;
  readonly receivedAt: string;
  readonly verdict: string;
}

/** One page of the deliveries of a range. */
export interface DeliveryPage {
  readonly deliveries: readonly AcceptedDelivery[];
  /** The range of the following pages; null after the last page. */
  readonly next: DeliveryRange | null;
}

/**
 * Converts the database rows of one page of deliveries to a `DeliveryPage`. Keeps only accepted deliveries. `rangeEnd` is the end of the
 * requested time range. The range of the following pages (`next`) has the same end.
 */
export function toDeliveryPage(rows: readonly DeliveryRow[], rangeEnd: string): DeliveryPage {
  // A page that is not full is the last page.
  const lastOfFullPage = rows[DELIVERY_PAGE_SIZE - 1];
  return {
    deliveries: rows.flatMap(({ installationId, receivedAt, verdict }) =>
      verdict === 'accepted' && installationId !== null ? [{ installationId, receivedAt }] : [],
    ),
    next:
      lastOfFullPage === undefined
        ? null
        : { since: lastOfFullPage.receivedAt, until: rangeEnd, afterId: lastOfFullPage.id },
  };
}

/** How many of the latest deliveries are searched for the newest one of a job. The search takes a few milliseconds. */
export const MAX_SEARCHED_DELIVERIES = 10_000;

/** Rows of one page. Reading them takes a few milliseconds. */
export const DELIVERY_PAGE_SIZE = 2000;

/** The signed text of one or more deliveries, as it was sent. */
export interface SignedText {
  readonly id: number;
  readonly signedData: string;
}
