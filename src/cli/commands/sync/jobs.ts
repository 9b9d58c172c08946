import { createInstallationJob, type NewJob } from '../../../inbox/job.js';
import {
  type Asked,
  type Followed,
  isAnybodyAtWork,
  readFollowed,
  readMark,
} from '../../../query/sync-progress.js';
import { readTargets } from '../../../query/at-registry.js';
import { createDiscoverJob } from '../../../sync/schedule/discover.js';
import { RESOURCES, serializeScope } from '../../../sync/plan.js';
import { createCheckError, throwIfInterrupted } from '../../exit.js';
import { type CommandContext, type MirrorLocation } from '../../context.js';
import { findInstallationOfOrganization } from '../../find/find-rows.js';
import { findRegistrySettings } from '../../mirror-location.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningProcess } from '../../../app/running-process.js';
import { startWorker } from '../../../app/work.js';
import { readSettings } from '../../../app/config/config.js';
import { describeDisk } from '../../../store/contract/disk.js';
import { createLog } from '../../../app/log.js';
import { createMask } from '../../../registry/http/mask.js';

interface SyncSelection {
  readonly organization: string | undefined;
  readonly resource: string | undefined;
  readonly full: boolean;
}

/** Put what is wanted into the queue, where it stays although this process may be gone before it is done. */
export async function enqueueSync(
  context: CommandContext,
  { organization, resource, full }: SyncSelection,
): Promise<Asked> {
  const { io, printNotice } = context;
  const isConfigured = findRegistrySettings(io.env).length > 0;
  const { engine } = isConfigured ? context.findMirror() : context.requireMirror();
  await engine.prepare(['inbox', 'mirror'], io.now(), what =>
    printNotice(`Waiting up to a minute for the database: ${what}.`),
  );
  const reader = await context.openReader();
  const one = organization === undefined ? null : await findInstallationOfOrganization(reader, organization);
  const organizationId = one?.organizationId ?? null;
  const mark = await readMark(reader, io.now());
  const targets = await readTargets(reader, organizationId);
  /** Certificates are no resource of their own here: they follow every sync, also one that reads nothing. */
  const resources = resource === undefined ? null : RESOURCES.filter(name => name === resource);
  const payload = serializeScope({ resources, full });
  const looks = targets.map(({ installation_id: id, organization_id: owner }): NewJob => {
    const job = createInstallationJob(id, owner, 'person');
    return Object.keys(payload).length === 0 ? job : { ...job, payload };
  });
  const jobs = organizationId === null ? [...looks, createDiscoverJob('person')] : looks;
  return { mark, jobs: await (await context.openInbox()).enqueue(jobs), organizationId };
}

const POLL_MS = 200;
/** A worker polls the inbox forty times a second: one that takes nothing for so long is not there. */
const NOBODY_AFTER_MS = 1500;

/** Watch the jobs to their end; where nobody takes them, do them here. */
export async function followJobs(context: CommandContext, asked: Asked, interrupted: AbortSignal) {
  const { io, requireMirror: location } = context;
  const reader = await context.openReader();
  let idleSince: number | null = null;
  let own: RunningProcess | null = null;
  try {
    for (;;) {
      const jobs = await readFollowed(reader, asked, io.now());
      const open = jobs.filter(job => isOpen(job, asked.mark.at, io.now()));
      if (open.length === 0) return { jobs, by: own === null ? 'the running worker' : 'this process' };
      const isDueNow = open.some(job => isDue(job, io.now()));
      const idle = isDueNow && !(await isAnybodyAtWork(reader, io.now()));
      idleSince = idle ? (idleSince ?? io.now()) : null;
      if (idleSince !== null && io.now() - idleSince >= NOBODY_AFTER_MS) {
        demandRoom(location());
        own ??= await startOwnWorker(context);
      }
      const pause = sleep(POLL_MS, undefined, { signal: interrupted }).catch(() => undefined);
      await Promise.race([pause, ...(own === null ? [] : [own.failed])]);
      throwIfInterrupted(interrupted, LEFT_EARLY);
    }
  } finally {
    await own?.stop();
  }
}

const LEFT_EARLY =
  'Interrupted. Finished reads are kept; the rest waits for a worker or the next "carbon-mirror sync".';

/** Nobody takes a job while less than the reserve is free: to wait for it could be to wait for ever. */
function demandRoom({ engine }: MirrorLocation): void {
  const disk = engine.lookAtDisk();
  if (!disk?.paused) return;
  throw createCheckError(
    `Reads and certificates are paused: ${describeDisk(disk)}.`,
    'The jobs wait until there is disk space and a worker.',
  );
}

/** One that failed since it was asked for and waits for its next try is over for this time. */
function isOpen(
  { state, attempts, started_at: startedAt, run_at: runAt }: Followed,
  askedAt: string,
  now: number,
): boolean {
  if (state === 'running') return true;
  if (state !== 'waiting') return false;
  const failed = attempts > 0 && (startedAt ?? '') >= askedAt && Date.parse(runAt) > now;
  return !failed;
}

function isDue({ state, run_at: runAt }: Followed, now: number): boolean {
  return state === 'waiting' && Date.parse(runAt) <= now;
}

/** The worker of `carbon-mirror work` without its schedule, its own listener and its log. */
async function startOwnWorker({
  io,
  requireMirror: location,
  printNotice,
}: CommandContext): Promise<RunningProcess> {
  const settings = await readSettings(location().env, 'work');
  const mask = createMask([settings.privateKey]);
  const log = createLog({ level: 'silent', mask, now: io.now, pretty: false });
  printNotice('No worker is running: reading in this process.');
  const running = await startWorker(
    { ...settings, syncSchedule: null, operationsPort: 0 },
    { log, now: io.now },
  );
  /** Whoever waits for it is told. */
  running.failed.catch(() => undefined);
  return running;
}
