import { setTimeout as sleep } from 'node:timers/promises';
import type { Reader } from '../../../store/contract/reader.js';
import { DELIVERIES } from '../../../query/lists/lists.js';
import { readAll } from '../../../query/lists/read.js';
import { command } from '../../command.js';
import { emit } from '../../io.js';
import { jsonText, type Row } from '../../output/output.js';

const POLL_MS = 500;
/** So many newer ones later, nobody waits for the end of a delivery any more. */
const MOST_OPEN = 500;
/** The states in which a job is done, or stays until something changes. */
const OVER = ['done', 'paused', 'failed'];
/** Each delivery as it arrives, and again when what it led to is over. */
export const TAIL = command({
  says: 'Print each delivery when it arrives, and what became of it when that is known; runs until it is stopped',
  prints: { json: 'print one JSON object a line: each delivery as it arrives, and again at its end' },
  run: async ({ io, format, reader: opened, print, say }) => {
    const interrupted = io.interruption();
    const reader = await opened();
    const show = async (row: Row, line: string): Promise<void> =>
      format === 'json' ? await emit(io, `${jsonText(row)}\n`) : await print(line);
    let last = numberOf((await since(reader, 0, 1))[0]);
    let open: readonly number[] = [];
    say(`Waiting for deliveries after number ${last}; Ctrl-C stops.`);
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
  },
});

/** The newest first. */
async function since(reader: Reader, after: number, most: number | null): Promise<Row[]> {
  return await readAll(reader, DELIVERIES, [{ column: 'id', above: after }], most);
}

function numberOf(row: Row | undefined): number {
  return Number(row?.['id'] ?? 0);
}

function isOver({ job_id: job, job_state: state }: Row): boolean {
  return job !== null && OVER.includes(String(state));
}

function lineOf({ reason, ...row }: Row): string {
  const whose = row['organization_name'] ?? row['installation_id'];
  const line = [row['id'], row['received_at'], row['event'], whose, row['verdict']].map(String).join('  ');
  return `${line}${reason === null ? '' : `: ${String(reason)}`}`;
}

function endOf({ id, job_state: state, end }: Row): string {
  return `${String(id)}  ${state === 'done' ? '' : `${String(state)}: `}${String(end ?? state)}`;
}
