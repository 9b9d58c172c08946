import type { AccessTokens } from '../../registry/auth/access-tokens.js';
import type { AppClient } from '../../registry/client-types.js';
import { RegistryError } from '../../registry/errors.js';
import type { Installation } from '../../registry/object-models.js';
import type { ReadOptions } from '../../registry/read-types.js';
import type { InstallationRun } from './read-context.js';
import type { SyncContext } from '../sync-context.js';
import { parseStoredPermissions } from '../../registry/json/permissions.js';
import { SyncError } from '../outcome.js';

/**
 * The state of an installation. The registry does not send the state: it follows from what the registry answers and
 * refuses.
 */
export type InstallationAccess =
  | {
      readonly state: 'active' | 'suspended';
      readonly installation: Installation;
      readonly organizationId: string;
    }
  | { readonly state: 'uninstalled' };

/** An installation that may be read. */
export interface ActiveInstallation {
  readonly installation: Pick<Installation, 'id' | 'permissions'>;
  readonly organizationId: string;
  readonly permissionsChanged: boolean;
}

/** What `readAccess` needs besides the client and the id of the installation. */
export interface AccessOptions extends ReadOptions {
  readonly appId: string;
  /** The installation as the mirror knew it before; null if it is new. */
  readonly storedInstallation: { readonly organizationId: string | null; readonly state: string } | null;
  /** Request a new token even if a cached one seems valid. */
  readonly renewToken: boolean;
}

/**
 * Requests an installation and its token from the registry, and concludes whether the installation is active, suspended or
 * uninstalled.
 */
export async function readAccess(
  { app, tokens }: { readonly app: AppClient; readonly tokens: AccessTokens },
  installationId: string,
  { appId, storedInstallation, renewToken, ...options }: AccessOptions,
): Promise<InstallationAccess> {
  const installation = await awaitOrNull('not_found', app.readInstallation(installationId, options));
  if (installation === null) {
    tokens.forget(installationId);
    return { state: 'uninstalled' };
  }
  assertSameId('installation', installationId, installation.id);
  assertSameId('app', appId, installation.appId);
  assertSameId('organization', storedInstallation?.organizationId ?? null, installation.organizationId);
  // Hidden permissions are taken from a new token.
  const hidesPermissions = installation.permissions === null;
  if (renewToken || hidesPermissions || storedInstallation?.state !== 'active') tokens.forget(installationId);
  const expectedId = storedInstallation?.organizationId ?? installation.organizationId ?? undefined;
  // The registry refuses a token for a suspended installation.
  const token = await awaitOrNull('forbidden', tokens.installation(installationId, expectedId).get());
  const organizationId =
    expectedId ?? (await app.createInstallationToken(installationId, options)).organizationId;
  if (organizationId === null)
    throw new RegistryError('bad_answer', 'installation: the answer names no organization');
  const permissions = installation.permissions ?? token?.permissions ?? null;
  return {
    state: token === null ? 'suspended' : 'active',
    installation: { ...installation, permissions },
    organizationId,
  };
}

/** Awaits a request. Returns null if the request fails with this error code. */
async function awaitOrNull<T>(code: 'forbidden' | 'not_found', request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof RegistryError && error.code === code) return null;
    throw error;
  }
}

/** Throws if the id in an answer is not the expected one. Null stands for an unknown id and is always accepted. */
function assertSameId(name: string, expected: string | null, actual: string | null): void {
  if (expected === null || actual === null || expected === actual) return;
  throw new RegistryError('bad_answer', `installation: the answer is for another ${name}`);
}

export type AccessChecker = ReturnType<typeof createAccessChecker>;

/**
 * Creates, for one job, an object that checks whether the app may still read the job's installation, and that stores the state of
 * the installation in the mirror.
 */
export function createAccessChecker(context: SyncContext, run: InstallationRun) {
  const { inbox, mirror, client, appId, now } = context;
  const { job, signal, cause, installationId } = run;
  let state = 'unknown';
  let changed = false;
  let fenceRaised = false;

  /** Whether the mirror's list of installations is recent enough that this job need not ask the registry. */
  async function isListCurrent(): Promise<boolean> {
    // A retry, and a job that the schedule did not create, always asks the registry.
    if (job.trigger !== 'schedule' || job.attempts > 1) return false;
    // If the installation has changed since then, reads are refused and a recheck finds out why.
    const { listedAt, listValidForMs } = await mirror.readMirrorState();
    return listedAt !== null && listedAt <= now() && now() - listedAt < listValidForMs;
  }

  /**
   * Returns the installation if it is active, otherwise null, and assigns its organization to the job. A scheduled job may
   * trust the mirror and not ask the registry.
   */
  async function checkAtStart(): Promise<ActiveInstallation | null> {
    const [known] = await mirror.listInstallations(installationId);
    const organizationId = known?.organizationId ?? null;
    const isKnownActive = known?.state === 'active' && organizationId !== null;
    if (!isKnownActive || !(await isListCurrent())) return checkAtRegistry({ renewToken: false });
    state = known.state;
    await claimOrganization(organizationId);
    const installation = { id: installationId, permissions: parseStoredPermissions(known.permissions) };
    return { installation, organizationId, permissionsChanged: false };
  }

  /**
   * Reads the installation from the registry, with a new token if `renewToken` is true, and stores it in the mirror. Returns
   * null unless the installation is active.
   */
  async function checkAtRegistry({ renewToken }: { readonly renewToken: boolean }) {
    const startedAt = now();
    const [known] = await mirror.listInstallations(installationId);
    const options = { appId, storedInstallation: known ?? null, renewToken, signal };
    const access = await readAccess(client, installationId, options);
    state = access.state;
    changed ||= known?.state !== access.state;
    const { claim, trigger } = job;
    const read = { claim, startedAt, arrivedAt: now(), trigger, cause, state: access.state };
    if (access.state === 'uninstalled') {
      const knownOrganizationId = known?.organizationId ?? null;
      if (knownOrganizationId !== null) await claimOrganization(knownOrganizationId);
      await mirror.writeInstallation({ ...read, installationId });
      return null;
    }
    const { installation, organizationId } = access;
    await claimOrganization(organizationId);
    await mirror.writeInstallation({ ...read, installation: { ...installation, organizationId } });
    if (access.state === 'suspended') return null;
    const permissionsChanged = known?.permissions !== JSON.stringify(installation.permissions);
    changed ||= permissionsChanged;
    return { installation, organizationId, permissionsChanged };
  }

  /**
   * Assigns an organization to the job, and makes the mirror refuse writes of older jobs. Throws `organization_busy` if
   * another job reads the organization.
   */
  async function claimOrganization(organizationId: string): Promise<void> {
    if (job.organizationId !== organizationId) {
      const assignment = await inbox.assignOrganization(job, organizationId);
      if (assignment === 'busy') throw new SyncError('organization_busy');
      if (assignment === 'lost') throw new SyncError('claim_lost');
    }
    // From here on, the mirror refuses writes of older claims for this organization.
    if (!fenceRaised) await mirror.raiseFence({ organizationId, part: job.part, claim: job.claim });
    fenceRaised = true;
  }

  return {
    /** Checks the access at the start of a job. Returns null if the installation is uninstalled or suspended. */
    checkAtStart,
    /**
     * Reads the installation from the registry again, with a new token, and stores it. Throws `access_gone` unless it is
     * active.
     */
    async recheck(): Promise<ActiveInstallation> {
      const active = await checkAtRegistry({ renewToken: true });
      if (active === null) throw new SyncError('access_gone');
      return active;
    },
    /** Returns the state that the latest check found. */
    getState: () => state,
    /** Whether a check found another state or other permissions than the mirror knew. */
    hasChanged: () => changed,
  };
}
