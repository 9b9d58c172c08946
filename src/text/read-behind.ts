/** A read of the registry, and what had asked for it. */
interface ReadBehind {
  readonly id: number;
  readonly trigger: string;
  readonly state: string;
  readonly started_at: string;
  readonly answered_at: string | null;
  readonly finished_at: string | null;
  readonly job_id: number | null;
  readonly delivery_id: number | null;
  readonly delivery: { readonly event: string | null; readonly received_at: string } | null;
}

/** The read that showed a row, in words. */
export function shownBy(run: ReadBehind | null): string {
  return run === null ? 'The read that showed it is not on record any more.' : doneBy('Shown', run);
}

export function doneBy(what: string, run: ReadBehind): string {
  const answered = run.answered_at === null ? '' : `, answered ${run.answered_at}`;
  const ended =
    run.finished_at === null ? ', and has not ended' : `, ended ${run.finished_at} (${run.state})`;
  return `${what} by sync run ${run.id}: asked ${run.started_at}${answered}${ended}. ${askedBy(run)}`;
}

function askedBy({ trigger, job_id: job, delivery_id: id, delivery }: ReadBehind): string {
  const work = job === null ? '' : ` It was job ${job}.`;
  if (id === null) return `What asked for it: ${trigger}.${work}`;
  const came =
    delivery === null
      ? 'removed since'
      : `${delivery.event ?? 'of no known event'}, received ${delivery.received_at}`;
  return `What asked for it: delivery ${id} (${came}).${work}`;
}

export function lastSeen(at: string): string {
  return `Last seen unchanged by the complete read that began ${at}.`;
}

interface Certificate {
  readonly sha256: string | null;
  readonly file: string | null;
  readonly state: string;
  readonly signed: boolean;
  readonly active_content: readonly string[];
}

/** What stands in the file of a certificate, as it is now. */
export function certificateWords(stored: Certificate | null): string[] {
  if (stored === null) return [];
  const { sha256, file, state, signed, active_content: active } = stored;
  const lines = [`Certificate: sha256 ${sha256}; the file ${file} is ${state}.`];
  if (state === 'missing') return lines;
  const holds = active.length === 0 ? 'no active content' : `active content (${active.join(', ')})`;
  return [
    ...lines,
    `It carries ${signed ? 'a signature, which is not checked,' : 'no signature'} and ${holds}.`,
  ];
}
