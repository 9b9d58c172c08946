import { join } from 'node:path';
import { createSyncContext } from '../../src/app/create-sync-context.js';
import type { ClaimedJob, NewJob } from '../../src/inbox/job.js';
import { createCertificateFolder } from '../../src/store/sqlite/mirror/certificate-folder.js';
import { createInboxPort } from '../../src/store/sqlite/inbox/inbox-port.js';
import { createMirrorPort } from '../../src/store/sqlite/mirror/mirror-port.js';
import type { SyncContext } from '../../src/sync/sync-context.js';
import { SyncError } from '../../src/sync/outcome.js';
import { createJobHandler } from '../../src/sync/sync-service.js';
import { temporaryFolder, temporaryInbox } from './inbox.js';
import { MINUTE, temporaryMirror } from './mirror/open.js';
import { createTestClient, createTime } from './program.js';
import { installApp, startTemporarySandbox } from './sandbox.js';
import { createTables } from './tables.js';

interface JobStageOptions {
  readonly context?: Partial<SyncContext>;
  /** How far the registry's clock is ahead of ours. */
  readonly aheadMs?: number;
}

interface JobRunOptions extends Partial<Pick<ClaimedJob, 'onlyDuplicates' | 'attempts'>> {
  readonly onTurn?: (stop: () => void) => Promise<void>;
}

/** Opens a stage that runs single jobs without a worker: a registry with one installation, an inbox and a mirror in files. */
export async function openJobStage({ context: overrides, aheadMs = 0 }: JobStageOptions = {}) {
  const time = createTime();
  const { now } = time;
  const sandbox = await startTemporarySandbox({ wallClock: () => now() + aheadMs });
  const installed = installApp(sandbox);
  const folder = temporaryFolder();
  const [mirror, inbox] = [temporaryMirror(folder), temporaryInbox(folder)];
  const files = join(folder, 'certificates');
  const { id: appId } = installed.app;
  const context = await createSyncContext(
    { appId, mirrorMembers: true, retentionDays: 90, consoleActions: true },
    {
      inbox: createInboxPort(inbox, now),
      mirror: createMirrorPort(mirror, files),
      pdfs: createCertificateFolder(files, { now }),
      client: createTestClient(sandbox, installed.app, now),
      now,
      random: () => 0,
    },
  );
  await context.mirror.checkOrigin({ baseUrl: sandbox.url, appId, scheduleSeconds: 900 });
  const tables = createTables(inbox);
  const handleJob = createJobHandler({ ...context, ...overrides });

  /** Removes all waiting jobs, enqueues this one a minute later, runs it, and returns its outcome. */
  async function runJob(job: NewJob, options: JobRunOptions = {}): Promise<string> {
    const { inbox: port } = context;
    time.move(MINUTE);
    await tables.change("DELETE FROM jobs WHERE state = 'waiting'");
    await port.enqueue([job]);
    const parts = (['data', 'certificates'] as const).map(part => ({ part, slots: 1 }));
    const [claimedJob] = (await port.claim({ parts, leaseMs: MINUTE })).jobs;
    if (claimedJob === undefined) throw new Error(`the job of the kind ${job.kind} was not due`);
    const stopped = new AbortController();
    const { signal } = stopped;
    const { onTurn, ...changes } = options;
    const yieldTurn = async () => {
      await onTurn?.(() => stopped.abort(new SyncError('shutdown')));
      signal.throwIfAborted();
    };
    try {
      return await handleJob({ job: { ...claimedJob, ...changes }, signal, yieldTurn });
    } finally {
      await port.settle([{ claim: claimedJob, end: { act: 'done', outcome: 'done' } }]);
    }
  }

  return {
    ...installed,
    sandbox,
    registry: sandbox.registry,
    context,
    now,
    move: (ms: number) => time.move(ms),
    run: runJob,
    mirror: createTables(mirror),
    inbox: tables,
  };
}
