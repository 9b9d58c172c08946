import { describeUnchanged } from '../answer/caveat.js';

/** A sync that observed a row or found that it had ended. */
export interface ExplainedSync {
  readonly id: number;
  readonly trigger: string;
  readonly state: string;
  readonly started_at: string;
  readonly last_answer_at: string | null;
  readonly finished_at: string | null;
  readonly job_id: number | null;
  readonly newest_delivery_id: number | null;
  /** Null if no delivery requested the sync, or if it is older than the retention. */
  readonly delivery: { readonly event: string | null; readonly received_at: string } | null;
}

/** A reason why a row was as it was at an instant. Each has its words in `describeExplanationReason`. */
export type ExplanationReason =
  | { readonly code: 'not_observed_yet'; readonly at: string }
  | { readonly code: 'no_longer_listed'; readonly at: string }
  | { readonly code: 'observed'; readonly sync: ExplainedSync }
  /** The sync that observed the row is no longer on record. `syncId` is null if the row names none. */
  | { readonly code: 'sync_not_recorded'; readonly syncId: number | null }
  /** The row was edited by hand: these columns differ from its stored JSON. */
  | { readonly code: 'edited_by_hand'; readonly columns: readonly string[] }
  /** `syncId` is null for a read without changes, which is only counted. */
  | { readonly code: 'confirmed'; readonly readStartedAt: string; readonly syncId: number | null }
  | { readonly code: 'unchanged'; readonly from: string; readonly to: string; readonly reads: number }
  | {
      readonly code: 'first_observed';
      readonly at: string;
      readonly syncId: number | null;
      /** Whether the list had been read completely before, without the row. */
      readonly wasMissingBefore: boolean;
      /** Null if the registry gives the row no date. */
      readonly registryDate: string | null;
    }
  | { readonly code: 'valid_until'; readonly at: string }
  | { readonly code: 'ended'; readonly sync: ExplainedSync }
  /** The sync that found the row changed or gone is no longer on record. */
  | { readonly code: 'end_not_recorded'; readonly syncId: number };

/** Describes in one or two sentences one reason for the values that a row had. */
export function describeExplanationReason(reason: ExplanationReason): string {
  switch (reason.code) {
    case 'not_observed_yet':
      return `The mirror had not observed it by ${reason.at}.`;
    case 'no_longer_listed':
      return `It was no longer listed at ${reason.at}.`;
    case 'observed':
      return describeSync('Observed', reason.sync);
    case 'sync_not_recorded':
      return reason.syncId === null
        ? 'The row names no sync that observed it.'
        : `Observed by sync ${reason.syncId}, which is no longer on record.`;
    case 'edited_by_hand':
      return `The row was edited by hand: its stored JSON contradicts ${reason.columns.join(', ')}. "carbon-mirror sync --full" restores what the registry still shows.`;
    case 'confirmed':
      return reason.syncId === null
        ? `Confirmed unchanged by the full read that started ${reason.readStartedAt}. A read without changes is counted and has no sync number.`
        : `Confirmed unchanged by sync ${reason.syncId}, the full read that started ${reason.readStartedAt}.`;
    case 'unchanged':
      return `${describeUnchanged(reason)}.`;
    case 'first_observed': {
      const by = reason.syncId === null ? '' : ` by sync ${reason.syncId}`;
      const earlier = reason.wasMissingBefore
        ? 'The complete reads before then did not list it.'
        : 'Earlier history is unknown: the list had not been read completely before.';
      const dated = reason.registryDate === null ? '' : ` Dated by the registry: ${reason.registryDate}.`;
      return `First observed ${reason.at}${by}. ${earlier}${dated}`;
    }
    case 'valid_until':
      return `Valid until ${reason.at}.`;
    case 'ended':
      return describeSync('Ended', reason.sync);
    case 'end_not_recorded':
      return `Ended by sync ${reason.syncId}, which is no longer on record.`;
    default:
      return reason satisfies never;
  }
}

/** Describes a sync that observed a row, or that found the row changed or gone. Also says what triggered the sync. */
function describeSync(event: 'Observed' | 'Ended', sync: ExplainedSync): string {
  const { started_at: startedAt, last_answer_at: answeredAt, finished_at: finishedAt, state } = sync;
  const answer = answeredAt === null ? '' : `, answered ${answeredAt}`;
  const end = finishedAt === null ? ', and has not ended' : `, ended ${finishedAt} (${state})`;
  const job = sync.job_id === null ? '' : `, job ${sync.job_id}`;
  return `${event} by sync ${sync.id}: started ${startedAt}${answer}${end}. Triggered by ${describeTrigger(sync)}${job}.`;
}

/** Describes what triggered a sync: a delivery, or another trigger such as the schedule. */
function describeTrigger({ trigger, newest_delivery_id: id, delivery }: ExplainedSync): string {
  if (id === null) return trigger;
  if (delivery === null) return `delivery ${id} (removed since)`;
  return `delivery ${id} (${delivery.event ?? 'unknown event'}, received ${delivery.received_at})`;
}
