import { setTimeout as sleep } from 'node:timers/promises';
import type { Running } from '../app/running.js';
import { startWork } from '../app/work.js';
import { readDiskReserve, readSettings } from '../config.js';
import { describeDisk, lookAtDisk } from '../engines/sqlite/disk.js';
import type { Sqlite } from '../engines/sqlite/open.js';
import { createLog } from '../log.js';
import { openBoth } from '../engines/sqlite/open-both.js';
import { createMask } from '../registry/mask.js';
import {
  type Asked,
  type Followed,
  isAnybodyAtWork,
  readEndedRuns,
  readFollowed,
  readProgress,
} from '../query/sync-progress.js';
import { CommandFault, EXIT } from './exit.js';
import { type Io, say } from './io.js';
import type { Place } from './place.js';
import { createProgressBar, type ProgressBar } from './progress-bar.js';

const POLL_MS = 200;
/** A worker polls the inbox forty times a second: one that takes nothing for so long is not there. */
const NOBODY_AFTER_MS = 1500;

export interface Ended {
  readonly jobs: readonly Followed[];
  readonly by: 'the running worker' | 'this process';
}

/** Watch the jobs to their end; where nobody takes them, do them here. */
export async function follow(io: Io, place: Place, asked: Asked, interrupted: AbortSignal): Promise<Ended> {
  const db = openBoth(place);
  const bar = createProgressBar(io);
  const worker = createOwnWorker(io, place);
  try {
    let idleSince: number | null = null;
    for (;;) {
      const jobs = readFollowed(db, asked, io.now());
      showAll(bar, db, asked, io.now());
      const open = jobs.filter(job => isOpen(job, asked.mark.at, io.now()));
      if (open.length === 0) return { jobs, by: worker.runs() ? 'this process' : 'the running worker' };
      const idle = !isAnybodyAtWork(db, io.now()) && open.some(job => isDue(job, io.now()));
      idleSince = idle ? (idleSince ?? io.now()) : null;
      if (idleSince !== null && io.now() - idleSince >= NOBODY_AFTER_MS) {
        demandRoom(place);
        await worker.start();
      }
      await sleep(POLL_MS, undefined, { signal: interrupted }).catch(() => undefined);
      if (interrupted.aborted) throw leftEarly();
      worker.demandWhole();
    }
  } finally {
    bar.close();
    db.close();
    await worker.stop();
  }
}

/** Nobody takes a job while less than the reserve is free: to wait for it could be to wait for ever. */
function demandRoom({ folder, env }: Place): void {
  const disk = lookAtDisk(folder, readDiskReserve(env));
  if (!disk.paused) return;
  throw new CommandFault(
    EXIT.checkFailed,
    `Reads and certificates pause: ${describeDisk(disk)}.`,
    'What was asked for waits, and is read as soon as there is space and a worker.',
  );
}

function leftEarly(): CommandFault {
  return new CommandFault(
    EXIT.interrupted,
    'Interrupted. What was read is kept; the rest waits for a worker or the next "carbon-mirror sync".',
  );
}

/** One that failed since it was asked for and waits for its next try is over for this time. */
function isOpen({ state, attempts, startedAt, runAt }: Followed, askedAt: string, now: number): boolean {
  if (state === 'claimed') return true;
  if (state !== 'ready') return false;
  const failed = attempts > 0 && (startedAt ?? '') >= askedAt && Date.parse(runAt) > now;
  return !failed;
}

function isDue({ state, runAt }: Followed, now: number): boolean {
  return state === 'ready' && Date.parse(runAt) <= now;
}

function showAll(bar: ProgressBar, db: Sqlite, asked: Asked, now: number): void {
  bar.show(readProgress(db, asked, now));
  bar.tell(readEndedRuns(db, asked));
}

/** The worker of `carbon-mirror work` without its schedule, its own listener and its log. */
function createOwnWorker(io: Io, place: Place) {
  let running: Running | null = null;
  let fault: unknown = null;
  return {
    runs: () => running !== null,
    async start() {
      if (running !== null) return;
      const settings = await readSettings(place.env, 'work');
      const log = createLog({
        level: 'silent',
        mask: createMask([settings.privateKey]),
        now: io.now,
        pretty: false,
      });
      if (!io.terminal.stderr) say(io, 'No worker is running: reading in this process.');
      const options = { ...settings, syncSchedule: null, operationsPort: 0 };
      running = await startWork(options, { log, now: io.now });
      running.failed.catch((error: unknown) => {
        fault = error;
      });
    },
    /** Throws where it cannot go on. */
    demandWhole() {
      if (fault !== null) throw fault;
    },
    async stop() {
      await running?.stop();
    },
  };
}
