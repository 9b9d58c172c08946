export const VERDICTS = ['accepted', 'ignored'] as const;
type Verdict = (typeof VERDICTS)[number];

/** A row stands for no more than a minute: who asks what came since an instant misses a duplicate for no longer. */
export const FOLD_WINDOW_MS = 60_000;
/** A text that came within the hour before is a duplicate, and says nothing new. */
export const DUPLICATE_WINDOW_MS = 3_600_000;

/** A POST whose signature was good. Everything here was signed, but for `contradictedFields`. */
export interface NewDelivery {
  /** How long ago the whole body had been read. */
  readonly receivedMsAgo: number;
  readonly event: string | null;
  readonly installationId: string | null;
  readonly organizationId: string | null;
  /** The signed text as it was sent, and its SHA-256 in hex. */
  readonly signedData: string;
  readonly sha256: string;
  /** Names of unsigned fields that contradicted the signed ones. */
  readonly contradictedFields: string | null;
  readonly verdict: Verdict;
  /** Null exactly where it was accepted. */
  readonly reason: string | null;
  readonly secretIndex: number;
}

export interface StoredDelivery {
  /** Of its row, which duplicates that wait for the same job share. */
  readonly id: number;
  /** The job that will start after the delivery arrived; null where it was ignored. */
  readonly jobId: number | null;
  /** Counted in a row that stood already. */
  readonly isDuplicate: boolean;
}

export interface StoreFailure {
  /** The database's code where it gave one. */
  readonly code: string;
  readonly message: string;
}

export type StoreResult = StoredDelivery | { readonly failure: StoreFailure };

export function describeFailure(error: unknown): StoreFailure {
  if (!(error instanceof Error)) return { code: 'unknown', message: String(error) };
  return { code: 'code' in error ? String(error.code) : error.name, message: error.message };
}

/** Asks for what came at or after an instant (epoch ms): of one event, or only what is no duplicate of one that waits. */
export interface DeliveryQuery {
  readonly since: number;
  readonly event?: string;
  readonly isNew?: boolean;
}

/** Instants, both included. */
export interface DeliveryRange {
  readonly from: string;
  readonly until: string;
  /** Of those that came at `from`, only what has a higher id. */
  readonly above: number;
}

/** An accepted delivery. */
export type AcceptedDelivery = Pick<DeliveryRow, 'receivedAt'> & { readonly installationId: string };

/** One of a stretch as its row has it. */
export interface DeliveryRow {
  readonly id: number;
  readonly installationId: string | null;
  readonly receivedAt: string;
  readonly verdict: string;
}

/** The accepted ones of a slice, which is the last of its stretch where it is not full, and where the next begins. */
export function toDeliverySlice(
  rows: readonly DeliveryRow[],
  until: string,
): { readonly deliveries: readonly AcceptedDelivery[]; readonly next: DeliveryRange | null } {
  const last = rows[DELIVERY_SLICE - 1];
  return {
    deliveries: rows.flatMap(({ installationId, receivedAt, verdict }) =>
      verdict === 'accepted' && installationId !== null ? [{ installationId, receivedAt }] : [],
    ),
    next: last === undefined ? null : { from: last.receivedAt, until, above: last.id },
  };
}

/** Looked through for the newest of a job; as many take some milliseconds. */
export const MAX_SEARCHED_DELIVERIES = 10_000;

/** Of what was announced, looked at without a pause; as many take some milliseconds. */
export const DELIVERY_SLICE = 2000;

export interface SignedText {
  readonly id: number;
  readonly signedData: string;
}
