import { type Client, createClient } from '../../../client.js';
import type { WorkSettings } from '../../../app/config/settings.js';
import { type Finding, fail, ok, warn } from '../../../store/contract/finding.js';
import { getAccessAdvice, RegistryError } from '../../../registry/errors.js';
import type { Permissions } from '../../../registry/model.js';
import type { UnreadableRow } from '../../../registry/read-types.js';
import { ENTRY_BY_RESOURCE } from '../../../resources/resources.js';
import { isPermitted, RESOURCES } from '../../../sync/plan.js';
import { truncateName } from '../../../text/clean-text.js';
import type { Io } from '../../io.js';

const ANSWER_WITHIN_MS = 10_000;
/** More than this is told, although JWTs still work. */
const NOTED_SKEW_MS = 5000;

/** What only the registry can tell: that it is there, knows us, and what it lets us read. */
export async function* checkRegistry(settings: WorkSettings, { now }: Io): AsyncGenerator<Finding> {
  const { baseUrl, appId, mirrorMembers } = settings;
  const bounds = { attempts: 2, deadlineMs: ANSWER_WITHIN_MS };
  try {
    const { app, http } = createClient({ ...settings, ...bounds, now, random: Math.random });
    const permissions = await checkPermissions(app, mirrorMembers);
    yield ok('registry', `${baseUrl} answers and knows the app ${appId}`);
    yield checkClock(http.clockSkewMs());
    yield* permissions;
  } catch (error) {
    if (error instanceof Error && error.name === 'PrivateKeyError') return;
    if (!(error instanceof RegistryError)) throw error;
    yield fail('registry', `${baseUrl}: ${error.message}`, getAccessAdvice(error.code));
  }
}

async function checkPermissions(app: Client['app'], mirrorMembers: boolean): Promise<Finding[]> {
  const wanted = RESOURCES.filter(resource => resource !== 'members' || mirrorMembers);
  const lacking: Finding[] = [];
  let [all, unsaid] = [0, 0];
  const unreadable: string[] = [];
  const onUnreadable = ({ error }: UnreadableRow) => void unreadable.push(error.message);
  for await (const { items } of app.listInstallations({ onUnreadable })) {
    for (const { id, organization, permissions } of items) {
      const told = permissions ?? (await readOfToken(app, id));
      all += 1;
      if (told === null) unsaid += 1;
      const lacked = wanted.filter(resource => !isPermitted(told, resource));
      if (lacked.length > 0) lacking.push(describeLack(organization?.fullName ?? id, lacked));
    }
  }
  if (unreadable.length > 0) {
    const found = `${unreadable.length} rows of the installation list cannot be read: ${unreadable[0]}`;
    lacking.push(warn('permissions', found, 'Report it to the registry. All other installations are read.'));
  }
  if (lacking.length > 0) return lacking;
  const todo = 'Have an organization install the app at the registry.';
  if (all === 0) return [warn('permissions', 'no organization has installed the app', todo)];
  const whole = `the app may read everything it mirrors, on ${all} installations`;
  const part = `the registry does not show them for ${unsaid} of ${all} installations: the mirror tries to read everything`;
  return [ok('permissions', unsaid > 0 ? part : whole)];
}

function describeLack(name: string, lacked: typeof RESOURCES): Finding {
  const names = new Set(lacked.map(resource => `${ENTRY_BY_RESOURCE[resource].permission}:read`));
  const todo = `Request ${[...names].join(', ')} at the registry, and have the organization accept.`;
  return warn('permissions', `${truncateName(name)}: the app lacks ${lacked.join(', ')}`, todo);
}

/** Where the installation does not show them, a token does. None are known of one that gives no token: it is suspended, or just gone. */
async function readOfToken(app: Client['app'], installationId: string): Promise<Permissions | null> {
  try {
    return (await app.createInstallationToken(installationId)).permissions;
  } catch (error) {
    if (error instanceof RegistryError && ['forbidden', 'not_found'].includes(error.code)) return null;
    throw error;
  }
}

function checkClock(skewMs: number | null): Finding {
  if (skewMs === null) return ok('clock', 'the registry sends no Date header to compare with');
  const size = Math.abs(skewMs);
  if (size <= NOTED_SKEW_MS) return ok('clock', "agrees with the registry's");
  const found = `${Math.round(size / 1000)} s ${skewMs < 0 ? 'ahead of' : 'behind'} the registry's`;
  return warn('clock', found, "Synchronize this machine's clock with NTP.");
}
