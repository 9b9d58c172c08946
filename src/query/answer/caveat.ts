import { cleanText, truncateName } from '../../text/clean-text.js';
import { formatCoded } from '../../text/csv.js';
import { formatCount, formatWithCommas } from '../../text/numbers.js';

/** Something that a reader must know to use an answer correctly. To add one, add its values here and its words below. */
export type Caveat =
  /** No list that the answer is about was ever read completely, so its rows are unknown. */
  | { readonly code: 'nothing_read'; readonly organizations: number }
  /** Nothing was known about the rows at a past instant. */
  | {
      readonly code: 'nothing_known_then';
      readonly organizations: number;
      /** The end of the first complete read of any of the lists, if the instant is before it. */
      readonly knownFrom: string | null;
    }
  /** No list was known at both of two instants, so nothing is compared. */
  | {
      readonly code: 'nothing_compared';
      readonly organizations: number;
      /** The end of the first complete read of any of the lists, if the earlier instant is before it. */
      readonly knownFrom: string | null;
    }
  /** The lists of some organizations were not known at both of two instants, so their rows are left out. */
  | { readonly code: 'not_compared'; readonly organizations: number }
  /** The lists of some organizations were never read completely. */
  | { readonly code: 'never_read'; readonly organizations: number }
  /** Some rows are as they were last seen, because their lists are not fresh. */
  | { readonly code: 'last_seen'; readonly organizations: number }
  /** Rows of organizations that removed the app are included. */
  | { readonly code: 'uninstalled_included'; readonly organizations: number }
  /** The warehouses of some organizations are not fresh, so none of their credits is in the answer. */
  | { readonly code: 'left_out'; readonly organizations: number }
  /** Some rows are in no total. */
  | { readonly code: 'without_amount'; readonly rows: number }
  /** Only the first rows are in the answer. */
  | { readonly code: 'limited'; readonly rows: number }
  /** Webhooks were rejected after the newest delivery arrived. */
  | {
      readonly code: 'newer_rejected';
      /** When the newest delivery or duplicate arrived; null if none has arrived. */
      readonly newestDeliveryAt: string | null;
      /** The number of rejected webhooks since the minute in which the newest delivery arrived. */
      readonly webhooks: number;
      /** Codes such as `signature_not_valid`. */
      readonly reasons: readonly string[];
    }
  /** No row matches this filter, even without the other filters. */
  | {
      readonly code: 'no_match';
      /** The name of the filter, such as `beneficiary`. A row is found by its `id`. */
      readonly filter: string;
      /** Whether the filter finds a part of a value or a whole value. */
      readonly match: 'contains' | 'equals';
      readonly value: string;
      /** The noun for one row, such as `retirement`. */
      readonly singular: string;
      /** Values that exist and are spelled similarly. */
      readonly similar: readonly string[];
    }
  /** The rows are as of an instant. The list that was read longest before then was read at `lastReadAt`. */
  | {
      readonly code: 'changes_unread_after';
      readonly lastReadAt: string;
      readonly organization: string;
      readonly lists: number;
    }
  /** The instant lies between scheduled reads that all found the list unchanged. */
  | {
      readonly code: 'unchanged_between';
      readonly from: string;
      readonly to: string;
      readonly reads: number;
      readonly organization: string;
      readonly lists: number;
    }
  /** The reads before the instant are so old that they are no longer recorded. */
  | { readonly code: 'reads_not_recorded' };

/** Describes a caveat in one or two sentences for people. */
export function describeCaveat(caveat: Caveat): string {
  switch (caveat.code) {
    case 'nothing_read':
      return `This list was never read completely for ${formatCount(caveat.organizations, 'organization')}, so its rows are unknown.`;
    case 'nothing_known_then':
      return caveat.organizations === 0
        ? 'This list has never been read for any organization.'
        : `Nothing is known about this list at that time.${caveat.knownFrom === null ? '' : ` The first instant that can be asked is ${caveat.knownFrom}.`}`;
    case 'nothing_compared':
      return caveat.organizations === 0
        ? 'This list has never been read for any organization.'
        : `No organization has a list that was known at both dates.${caveat.knownFrom === null ? '' : ` The first instant that can be compared is ${caveat.knownFrom}.`}`;
    case 'not_compared':
      return `Not compared, and in no total: ${formatCount(caveat.organizations, 'organization')} whose list was not known at both dates.`;
    case 'never_read':
      return `Missing here: ${formatCount(caveat.organizations, 'organization')} whose list was never read completely.`;
    case 'last_seen':
      return `The rows of ${formatCount(caveat.organizations, 'organization')} are as last seen, because their lists are not fresh.`;
    case 'uninstalled_included':
      return `Includes ${formatCount(caveat.organizations, 'organization')} that removed the app.`;
    case 'left_out':
      return caveat.organizations === 1
        ? 'The warehouse of 1 organization is left out, because it is not fresh.'
        : `The warehouses of ${formatCount(caveat.organizations, 'organization')} are left out, because they are not fresh.`;
    case 'without_amount':
      return `${formatCount(caveat.rows, 'row')} without a usable amount ${caveat.rows === 1 ? 'is' : 'are'} in no total.`;
    case 'limited':
      return `Showing ${formatWithCommas(caveat.rows)}. There are more.`;
    case 'newer_rejected':
      return describeNewerRejected(caveat);
    case 'no_match':
      return describeNoMatch(caveat);
    case 'changes_unread_after':
      return `The answer shows what was read until ${caveat.lastReadAt}${describeOldestRead(caveat)}; later changes may be missing.`;
    case 'unchanged_between':
      return `${describeUnchanged(caveat)}${describeOldestRead(caveat)}.`;
    case 'reads_not_recorded':
      return 'Reads from before then are no longer on record.';
    default:
      return caveat satisfies never;
  }
}

/** Whether a caveat says that the rows are unknown, so that an answer without rows proves nothing. */
export function isUnknown({ code }: Caveat): boolean {
  return code === 'nothing_read' || code === 'nothing_known_then' || code === 'nothing_compared';
}

/** Says how many webhooks were rejected after the newest delivery arrived, for which reasons, and which command lists these webhooks. */
function describeNewerRejected({
  newestDeliveryAt,
  webhooks,
  reasons,
}: Extract<Caveat, { code: 'newer_rejected' }>): string {
  const count = formatCount(webhooks, 'webhook was', 'webhooks were');
  const when =
    newestDeliveryAt === null ? 'and none was accepted' : 'since the minute of the newest delivery';
  const causes = reasons.map(reason => reason.replaceAll('_', ' ')).join(', ');
  return `${count} rejected ${when}: ${causes}. See "carbon-mirror deliveries rejected".`;
}

/** Describes that no row matches a filter, and suggests similar values. */
function describeNoMatch({
  filter,
  match,
  value,
  singular,
  similar,
}: Extract<Caveat, { code: 'no_match' }>): string {
  const sentence =
    filter === 'id'
      ? `There is no ${singular} ${quoteValue(value)}.`
      : match === 'contains'
        ? `No ${singular} has ${quoteValue(value)} in its ${filter}.`
        : `No ${singular} has the ${filter} ${quoteValue(value)}.`;
  return similar.length === 0 ? sentence : `${sentence} Did you mean ${similar.map(quoteValue).join(', ')}?`;
}

/** Puts a value in quotation marks, shortened and without control characters. */
function quoteValue(value: string): string {
  return `"${truncateName(cleanText(value))}"`;
}

/**
 * Says how often a list was read without finding a change. Returns a sentence without a full stop, for example "Read 24 times between A and
 * B, always unchanged".
 */
export function describeUnchanged({
  from,
  to,
  reads,
}: Pick<Extract<Caveat, { code: 'unchanged_between' }>, 'from' | 'to' | 'reads'>): string {
  const times = reads === 1 ? 'once' : `${reads} times`;
  return `Read ${times} between ${from} and ${to}, always unchanged`;
}

/** Names the organization whose list was read longest ago, in parentheses. Empty if there is only one list. */
function describeOldestRead({
  lists,
  organization,
}: {
  readonly lists: number;
  readonly organization: string;
}): string {
  return lists === 1 ? '' : ` (the oldest of ${lists} reads: ${organization})`;
}

/** Writes the caveats as one cell of a CSV file, such as `never_read organizations=2; limited rows=100`. */
export function formatCaveatCell(caveats: readonly Caveat[]): string {
  return caveats.map(formatCoded).join('; ');
}
