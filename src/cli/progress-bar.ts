import { say } from './io.js';
import { shortName } from '../text/clean.js';
import type { EndedSync, Progress } from '../query/reads/sync-progress.js';
import type { Io } from './io.js';

/** One line that is drawn again and again on a terminal; elsewhere a line for each sync that changed something or failed. */
export interface ProgressBar {
  show(progress: Progress): void;
  /** Everything that ended so far; what was told is not told again. */
  tell(syncs: readonly EndedSync[]): void;
  close(): void;
}

const WIDTH = 24;
const CLEAR = '\r\u001b[K';

export function createProgressBar(io: Io): ProgressBar {
  const startedAt = io.now();
  const told = new Set<number>();
  let mostDue = 0;
  let drawn = false;
  const draws = io.terminal.stderr && io.env['TERM'] !== 'dumb';
  return {
    show: progress => {
      mostDue = Math.max(mostDue, progress.certificatesDue);
      if (!draws) return;
      const text = describeProgress(progress, mostDue, (io.now() - startedAt) / 1000);
      io.stderr.write(`${CLEAR}${text.slice(0, Math.max(20, io.columns - 1))}`);
      drawn = true;
    },
    tell: syncs => {
      if (draws) return;
      for (const sync of syncs.filter(each => !told.has(each.id) && isWorthTelling(each))) {
        told.add(sync.id);
        say(io, describeSync(sync));
      }
    },
    close: () => {
      if (drawn) io.stderr.write(CLEAR);
    },
  };
}

export function describeProgress(progress: Progress, mostDue: number, seconds: number): string {
  const { rows, reads, allReads, certificatesDue } = progress;
  const fetched = mostDue - certificatesDue;
  const all = allReads + mostDue;
  const part = all === 0 ? 0 : Math.min(1, (reads + fetched) / all);
  const full = Math.round(part * WIDTH);
  const parts = [
    `[${'#'.repeat(full)}${'-'.repeat(WIDTH - full)}] ${Math.floor(part * 100)} %`,
    `${rows} rows`,
    `${Math.round(rows / Math.max(seconds, 0.1))}/s`,
    ...(mostDue > 0 ? [`${fetched} of ${mostDue} certificates`] : []),
    part > 0.02 && part < 1 ? `about ${left(seconds, part)} left` : `${Math.floor(seconds)} s`,
  ];
  return parts.join('  ');
}

function left(seconds: number, part: number): string {
  const remaining = Math.ceil((seconds * (1 - part)) / part);
  return remaining < 120 ? `${remaining} s` : `${Math.ceil(remaining / 60)} min`;
}

function isWorthTelling({ state, added, changed, removed }: EndedSync): boolean {
  return state !== 'complete' || added + changed + removed > 0;
}

function describeSync(sync: EndedSync): string {
  const counts = [
    `${sync.added} added`,
    `${sync.changed} changed`,
    `${sync.removed} removed`,
    `${sync.unchanged} unchanged`,
  ];
  const fault = sync.error === null ? '' : `: ${sync.error}`;
  return `${shortName(sync.organization)}, ${sync.resource}: ${sync.state}: ${counts.join(', ')}${fault}`;
}
