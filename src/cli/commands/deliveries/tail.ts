import { setTimeout as sleep } from 'node:timers/promises';
import type { Reader } from '../../../engines/contract/reader.js';
import { readDeliveries } from '../../../query/inbox/deliveries-and-jobs.js';
import { withEnds } from '../../../query/inbox/ends.js';
import { emit, type Io, print, say } from '../../io.js';
import { jsonText, type Row } from '../../output/output.js';
import { reading } from '../../place/place.js';
import { findPlace } from '../../place/find-place.js';

const POLL_MS = 500;
/** So many newer ones later, nobody waits for the end of a delivery any more. */
const MOST_OPEN = 500;
/** The states in which a job is done, or stays until something changes. */
const OVER = ['done', 'parked', 'buried'];

/** Each delivery as it arrives, and again when what it led to is over. */
export async function tail(io: Io, options: { readonly json?: boolean }): Promise<void> {
  const interrupted = io.interruption();
  await reading(findPlace(io), async reader => {
    const show = async (row: Row, line: string): Promise<void> =>
      options.json ? await emit(io, `${jsonText(row)}\n`) : await print(io, line);
    let last = numberOf((await since(reader, 0, 1))[0]);
    let open: readonly number[] = [];
    say(io, `Waiting for deliveries after number ${last}; Ctrl-C stops.`);
    while (!interrupted.aborted) {
      const awaited = open;
      const rows = (await since(reader, Math.min(last, ...awaited.map(id => id - 1)), null)).toReversed();
      const isNew = (row: Row) => numberOf(row) > last;
      for (const row of rows.filter(isNew)) await show(row, lineOf(row));
      const shown = rows.filter(row => isNew(row) || awaited.includes(numberOf(row)));
      for (const row of shown.filter(isOver)) await show(row, endOf(row));
      last = Math.max(last, ...rows.map(numberOf));
      open = shown
        .filter(row => row['job_id'] !== null && !isOver(row))
        .map(numberOf)
        .filter(id => id > last - MOST_OPEN);
      await sleep(POLL_MS, undefined, { signal: interrupted }).catch(() => undefined);
    }
  });
}

async function since(reader: Reader, after: number, limit: number | null): Promise<Row[]> {
  const filter = { verdict: null, installationId: null, after, limit };
  return await withEnds(reader, await readDeliveries(reader, filter));
}

function numberOf(row: Row | undefined): number {
  return Number(row?.['id'] ?? 0);
}

function isOver({ job_id: job, final_state: state }: Row): boolean {
  return job !== null && OVER.includes(String(state));
}

function lineOf({ reason, ...row }: Row): string {
  const whose = row['organization_name'] ?? row['installation_id'];
  const line = [row['id'], row['received_at'], row['event'], whose, row['verdict']].map(String).join('  ');
  return `${line}${reason === null ? '' : `: ${String(reason)}`}`;
}

function endOf({ id, final_state: state, end }: Row): string {
  return `${String(id)}  ${state === 'done' ? '' : `${String(state)}: `}${String(end ?? state)}`;
}
