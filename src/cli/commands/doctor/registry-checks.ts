import { type Client, createClient } from '../../../client.js';
import type { WorkSettings } from '../../../app/config/settings-table.js';
import { type Finding, fail, ok, warn } from '../../../store/contract/finding.js';
import { getRegistryAccessAdvice, RegistryError } from '../../../registry/errors.js';
import type { Permissions } from '../../../registry/object-models.js';
import type { UnreadableRow } from '../../../registry/read-types.js';
import { ENTRY_BY_RESOURCE } from '../../../resources/resources.js';
import { isPermitted, RESOURCES } from '../../../sync/plan.js';
import { truncateName } from '../../../text/clean-text.js';
import type { Io } from '../../io.js';

const CALL_TIMEOUT_MS = 10_000;
/** A clock that is further off is reported, although JWTs still work. */
const MAX_SKEW_MS = 5000;

/** Checks the connection to the registry, this machine's clock and the app's permissions. */
export async function* checkRegistry(settings: WorkSettings, { now }: Io): AsyncGenerator<Finding> {
  const { baseUrl, appId, mirrorMembers } = settings;
  const limits = { attempts: 2, deadlineMs: CALL_TIMEOUT_MS };
  try {
    const { app, http } = createClient({ ...settings, ...limits, now, random: Math.random });
    const permissions = await checkPermissions(app, mirrorMembers);
    yield ok('registry', `${baseUrl} answers and knows the app ${appId}`);
    yield checkClock(http.clockSkewMs());
    yield* permissions;
  } catch (error) {
    if (error instanceof Error && error.name === 'PrivateKeyError') return;
    if (!(error instanceof RegistryError)) throw error;
    yield fail('registry', `${baseUrl}: ${error.message}`, getRegistryAccessAdvice(error.code));
  }
}

/** Checks that every installation permits the app to read all mirrored resources. */
async function checkPermissions(app: Client['app'], mirrorMembers: boolean): Promise<Finding[]> {
  const mirrored = RESOURCES.filter(resource => resource !== 'members' || mirrorMembers);
  const warnings: Finding[] = [];
  let installationCount = 0;
  let unknownCount = 0;
  const unreadable: string[] = [];
  const onUnreadable = ({ error }: UnreadableRow) => void unreadable.push(error.message);
  for await (const { id, organization, permissions } of app.listInstallations({ onUnreadable })) {
    const known = permissions ?? (await readTokenPermissions(app, id));
    installationCount += 1;
    if (known === null) unknownCount += 1;
    const missing = mirrored.filter(resource => !isPermitted(known, resource));
    if (missing.length > 0) warnings.push(createPermissionWarning(organization?.fullName ?? id, missing));
  }
  if (unreadable.length > 0) {
    const found = `${unreadable.length} rows of the installation list cannot be read: ${unreadable[0]}`;
    warnings.push(warn('permissions', found, 'Report it to the registry. All other installations are read.'));
  }
  if (warnings.length > 0) return warnings;
  const todo = 'Have an organization install the app at the registry.';
  if (installationCount === 0) return [warn('permissions', 'no organization has installed the app', todo)];
  const complete = `the app may read everything it mirrors, on ${installationCount} installations`;
  const unknown = `the registry does not show them for ${unknownCount} of ${installationCount} installations: the mirror tries to read everything`;
  return [ok('permissions', unknownCount > 0 ? unknown : complete)];
}

/** Creates the warning that an organization does not permit the app to read these resources. */
function createPermissionWarning(organizationName: string, missing: typeof RESOURCES): Finding {
  const permissions = new Set(missing.map(resource => `${ENTRY_BY_RESOURCE[resource].permission}:read`));
  const todo = `Request ${[...permissions].join(', ')} at the registry, and have the organization accept.`;
  return warn('permissions', `${truncateName(organizationName)}: the app lacks ${missing.join(', ')}`, todo);
}

/** Returns the permissions of a new access token, or null if the registry refuses one. */
async function readTokenPermissions(app: Client['app'], installationId: string): Promise<Permissions | null> {
  try {
    return (await app.createInstallationToken(installationId)).permissions;
  } catch (error) {
    if (error instanceof RegistryError && ['forbidden', 'not_found'].includes(error.code)) return null;
    throw error;
  }
}

/** Checks that this machine's clock agrees with the registry's clock. `skewMs` is null if the registry sends no time. */
function checkClock(skewMs: number | null): Finding {
  if (skewMs === null) return ok('clock', 'the registry sends no Date header to compare with');
  const size = Math.abs(skewMs);
  if (size <= MAX_SKEW_MS) return ok('clock', "agrees with the registry's");
  const found = `${Math.round(size / 1000)} s ${skewMs < 0 ? 'ahead of' : 'behind'} the registry's`;
  return warn('clock', found, "Synchronize this machine's clock with NTP.");
}
