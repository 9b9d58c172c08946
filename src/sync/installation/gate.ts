import { type Opened, readAccess } from './access.js';
import type { CausedJob } from './step.js';
import type { Context } from '../context.js';
import { parseStoredPermissions } from '../../registry/json/permissions.js';
import { SyncError } from '../outcome.js';

export type Gate = ReturnType<typeof createGate>;

/** What the registry allows at this moment, asked for and written down. */
export function createGate(context: Context, atWork: CausedJob) {
  const { inbox, mirror, client, appId, now } = context;
  const { job, signal, cause, installationId } = atWork;
  let state = 'unknown';
  let changed = false;
  let raised = false;

  /** What the list of this round has just said of it need not be asked for: where it has changed since, reads are refused. */
  async function isListed(): Promise<boolean> {
    if (job.trigger !== 'schedule' || job.attempts > 1) return false;
    const { listedAt: at, listGoodForMs } = await mirror.known();
    return at !== null && at <= now() && now() - at < listGoodForMs;
  }

  async function enter(): Promise<Opened | null> {
    const [known] = await mirror.installations(installationId);
    const organizationId = known?.organizationId ?? null;
    if (known?.state !== 'active' || organizationId === null || !(await isListed())) return look(false);
    state = known.state;
    await bind(organizationId);
    const installation = { id: installationId, permissions: parseStoredPermissions(known.permissions) };
    return { installation, organizationId, permissionsChanged: false };
  }

  async function look(prove: boolean): Promise<Opened | null> {
    const startedAt = now();
    const [known] = await mirror.installations(installationId);
    const access = await readAccess(client, installationId, {
      appId,
      known: known ?? null,
      prove,
      signal,
    });
    state = access.state;
    changed ||= known?.state !== access.state;
    const { claim, trigger } = job;
    const read = { claim, startedAt, arrivedAt: now(), trigger, cause, state: access.state };
    if (access.state === 'uninstalled') {
      await bind(known?.organizationId ?? null);
      await mirror.writeInstallation({ ...read, installationId });
      return null;
    }
    const { installation, organizationId } = access;
    await bind(organizationId);
    await mirror.writeInstallation({ ...read, installation: { ...installation, organizationId } });
    if (access.state === 'suspended') return null;
    const permissionsChanged = known?.permissions !== JSON.stringify(installation.permissions);
    changed ||= permissionsChanged;
    return { installation, organizationId, permissionsChanged };
  }

  async function bind(organizationId: string | null): Promise<void> {
    if (organizationId === null) return;
    if (job.organizationId !== organizationId) {
      const bound = await inbox.bind(job, organizationId);
      if (bound === 'busy') throw new SyncError('organization_busy');
      if (bound === 'lost') throw new SyncError('claim_lost');
    }
    if (!raised) await mirror.raiseFence({ organizationId, part: job.part, claim: job.claim });
    raised = true;
  }

  return {
    /** The first read of a job. Null where the installation is gone or suspended. */
    enter,
    /** Read again, with a new token as the proof. The job is stopped where access is gone. */
    async again(): Promise<Opened> {
      const opened = await look(true);
      if (opened === null) throw new SyncError('access_gone');
      return opened;
    },
    /** What the latest read found. */
    state: () => state,
    /** Whether a read found another state or other permissions than were known. */
    hasChanged: () => changed,
  };
}
