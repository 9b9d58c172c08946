/** A list of one organization that was not fully known at a past instant, and the reason. */
export interface Gap {
  /** The id of the installation if no organization is known for it yet. */
  readonly organizationId: string;
  readonly organizationName: string | null;
  readonly resource: string;
  readonly reason: GapReason;
}

export type GapReason =
  | { readonly code: 'never_read' }
  | {
      readonly code: 'before_first_read';
      readonly firstReadEndedAt: string;
      /** Retirements that are listed today and that the registry dates before the instant. */
      readonly earlierRetirements: number;
    }
  | { readonly code: 'no_longer_readable'; readonly lastReadAt: string }
  /** `endedAt` is null if the read still runs now. */
  | { readonly code: 'read_running'; readonly startedAt: string; readonly endedAt: string | null }
  | {
      readonly code: 'read_incomplete';
      readonly startedAt: string;
      readonly state: string;
      readonly error: string | null;
    }
  | { readonly code: 'later_changes_unread'; readonly lastReadAt: string };

/** Describes why a list was not fully known, such as "never read completely". */
function describeGapReason(reason: GapReason): string {
  switch (reason.code) {
    case 'never_read':
      return 'never read completely';
    case 'before_first_read': {
      const { firstReadEndedAt, earlierRetirements } = reason;
      const earlier =
        earlierRetirements === 0
          ? ''
          : `; ${earlierRetirements} of the retirements listed today have an earlier date`;
      return `not known before ${firstReadEndedAt}, the end of the first complete read${earlier}`;
    }
    case 'no_longer_readable':
      return `not known after ${reason.lastReadAt}, because it can no longer be read`;
    case 'read_running':
      return `a read that started ${reason.startedAt} was still running; rows it had not reached are left out`;
    case 'read_incomplete': {
      const error = reason.error === null ? '' : ` (${reason.error})`;
      return `the read that started ${reason.startedAt} was ${reason.state}${error}, so it may have missed changes`;
    }
    case 'later_changes_unread':
      return `changes at the registry after ${reason.lastReadAt} had not been read yet`;
    default:
      return reason satisfies never;
  }
}

/** Describes a gap in one sentence, such as "Acme, retirements: never read completely." */
export function describeGap({ organizationId, organizationName, resource, reason }: Gap): string {
  return `${organizationName ?? organizationId}, ${resource.replaceAll('_', ' ')}: ${describeGapReason(reason)}.`;
}

/** Returns a gap as one flat object, for JSON. */
export function toGapData({ reason, ...list }: Gap) {
  return { ...list, ...reason };
}

/** Whether the reason applies to the whole list, so that none of its rows are in the answer. */
export function isWholeList({ code }: GapReason): boolean {
  return code === 'never_read' || code === 'before_first_read' || code === 'no_longer_readable';
}
