/** A read of the registry, and what had asked for it. */
export interface ReadBehind {
  readonly id: number;
  readonly trigger: string;
  readonly state: string;
  readonly started_at: string;
  readonly last_answer_at: string | null;
  readonly finished_at: string | null;
  readonly job_id: number | null;
  readonly newest_delivery_id: number | null;
  /** Null where the delivery is older than the retention, and where none asked. */
  readonly delivery: { readonly event: string | null; readonly received_at: string } | null;
}

interface Seen {
  readonly first_seen_at: string;
  readonly dated_at: string | null;
}

interface Told extends Seen {
  readonly at: string;
  readonly row: object | null;
  readonly shown_by: ReadBehind | null;
  readonly contradicted: readonly string[];
  readonly last_seen_at: string | null;
  readonly until: string | null;
  readonly ended_by: ReadBehind | null;
}

/** Why it stands as it does, or what can be said where it was not known. */
export function reasons(told: Told): string[] {
  const { at, row, shown_by: sync, contradicted, last_seen_at: seenAt, until, ended_by: endedBy } = told;
  const shown = sync === null ? 'The read that showed it is no longer on record.' : doneBy('Shown', sync);
  const lines = [
    row === null ? `The mirror had not seen it in the list by ${at}.` : shown,
    contradicted.length > 0 &&
      `Somebody changed it by hand: its document contradicts ${contradicted.join(', ')}. "carbon-mirror sync --full" restores what the registry still shows.`,
    seenAt !== null && `Last seen unchanged by the complete read that began ${seenAt}.`,
    firstSeen(told),
    until !== null && `It was so until ${until}.`,
    endedBy !== null && doneBy('Ended', endedBy),
  ];
  return lines.filter(line => line !== false);
}

/** Since when a row is known. What was before, whatever the registry dates it, is not for the mirror to prove. */
function firstSeen({ first_seen_at: at, dated_at: datedAt }: Seen): string {
  const dated = datedAt === null ? '' : ` The registry dates it ${datedAt}.`;
  return `First seen ${at}. The mirror does not know what it was before that.${dated}`;
}

function doneBy(what: string, sync: ReadBehind): string {
  const answered = sync.last_answer_at === null ? '' : `, answered ${sync.last_answer_at}`;
  const ended =
    sync.finished_at === null ? ', and has not ended' : `, ended ${sync.finished_at} (${sync.state})`;
  return `${what} by sync ${sync.id}: asked ${sync.started_at}${answered}${ended}. ${askedBy(sync)}`;
}

function askedBy({ trigger, job_id: job, newest_delivery_id: id, delivery }: ReadBehind): string {
  const work = job === null ? '' : ` It was job ${job}.`;
  if (id === null) return `What asked for it: ${trigger}.${work}`;
  const came =
    delivery === null
      ? 'removed since'
      : `${delivery.event ?? 'of no known event'}, received ${delivery.received_at}`;
  return `What asked for it: delivery ${id} (${came}).${work}`;
}

export interface Certificate {
  readonly sha256: string | null;
  readonly file: string | null;
  readonly state: 'as it was stored' | 'missing' | 'changed';
}

/** What stands in the file of a certificate, as it is now. */
export function certificateWords(stored: Certificate | null): string[] {
  if (stored === null) return [];
  const { sha256, file, state } = stored;
  return [`Certificate: sha256 ${sha256}; the file ${file} is ${state}.`];
}
