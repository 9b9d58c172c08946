import { shortName } from '../../../text/clean.js';
import { type Client, createClient } from '../../../client.js';
import { CORRECTED_AT_MOST_MS, SKEW_TOLERATED_MS } from '../../../auth/clock.js';
import type { WorkSettings } from '../../../config/settings.js';
import { type Health, readOrigin } from '../../../query/inbox/health.js';
import { adviceOnAccess, RegistryError } from '../../../registry/errors.js';
import type { Installation, Permissions } from '../../../registry/model.js';
import { ENTRY_OF } from '../../../resources/resources.js';
import { isPermitted, RESOURCES } from '../../../sync/plan.js';
import { type Finding, ok } from '../../../engines/contract/finding.js';
import type { Io } from '../../io.js';
import { type Place, reading } from '../../place/place.js';

const ANSWER_WITHIN_MS = 10_000;
/** More than this is told, although JWTs still work. */
const NOTED_SKEW_MS = 5000;

/** What only the registry can tell: that it is there, knows us, and what it lets us read. */
export async function checkRegistry(place: Place, settings: WorkSettings, io: Io): Promise<Finding[]> {
  try {
    const client = createClient({
      ...settings,
      attempts: 2,
      deadlineMs: ANSWER_WITHIN_MS,
      now: io.now,
      random: Math.random,
    });
    const installations = await readInstallations(client);
    return [
      ok('registry', `${settings.baseUrl} answers, and knows app ${settings.appId}`),
      describeClock(client.http.clockSkewMs()),
      ...(await checkOrigin(place, client.http.baseUrl, settings.appId)),
      ...describePermissions(await withPermissions(client, installations), settings.mirrorMembers),
    ];
  } catch (error) {
    if (error instanceof RegistryError) return [describeRefusal(settings.baseUrl, error)];
    if (error instanceof Error && error.name === 'PrivateKeyError') return [];
    throw error;
  }
}

async function readInstallations(client: Client): Promise<Installation[]> {
  const found: Installation[] = [];
  for await (const page of client.app.listInstallations()) found.push(...page.items);
  return found;
}

/** Where the installation does not show them, a token does. */
async function withPermissions(
  client: Client,
  installations: readonly Installation[],
): Promise<Installation[]> {
  const told: Installation[] = [];
  for (const installation of installations) {
    const permissions = installation.permissions ?? (await tokenPermissions(client, installation.id));
    told.push({ ...installation, permissions });
  }
  return told;
}

/** None are known of one that gives no token: it is suspended, or just gone. */
async function tokenPermissions(client: Client, installationId: string): Promise<Permissions | null> {
  try {
    return (await client.app.createInstallationToken(installationId)).permissions;
  } catch (error) {
    if (error instanceof RegistryError && (error.code === 'forbidden' || error.code === 'not_found'))
      return null;
    throw error;
  }
}

function describeRefusal(baseUrl: string, error: RegistryError): Finding {
  return {
    check: 'registry',
    state: 'fail',
    found: `${baseUrl}: ${error.message}`,
    todo: adviceOnAccess(error.code),
  };
}

function describeClock(skewMs: number | null): Finding {
  if (skewMs === null) return ok('clock', 'the registry sends no Date to compare with');
  const found = `${Math.abs(Math.round(skewMs / 1000))} s ${skewMs < 0 ? 'ahead of' : 'behind'} the registry's`;
  if (Math.abs(skewMs) <= NOTED_SKEW_MS) return ok('clock', "agrees with the registry's");
  return {
    check: 'clock',
    state: 'warn',
    found,
    todo: `${adviceOn(Math.abs(skewMs))}Keep this machine's clock with NTP.`,
  };
}

function adviceOn(skewMs: number): string {
  if (skewMs > CORRECTED_AT_MOST_MS) return 'More than a day is not corrected. ';
  return skewMs > SKEW_TOLERATED_MS ? 'Where tokens are refused they are signed by its time. ' : '';
}

async function checkOrigin(place: Place, baseUrl: string, appId: string): Promise<Finding[]> {
  const origin = await originOf(place);
  if (origin === null || (origin.baseUrl === baseUrl && origin.appId === appId)) return [];
  return [
    {
      check: 'origin',
      state: 'fail',
      found: `the mirror was filled from ${origin.baseUrl} by app ${origin.appId}`,
      todo: 'Use another DATA_DIR for these settings, or go back to the old ones.',
    },
  ];
}

async function originOf(place: Place): Promise<Health['origin']> {
  try {
    return await reading(place, readOrigin);
  } catch {
    return null;
  }
}

function describePermissions(installations: readonly Installation[], mirrorMembers: boolean): Finding[] {
  if (installations.length === 0) {
    const todo = 'Install the app on an organization at the registry.';
    return [{ check: 'permissions', state: 'warn', found: 'the app is installed nowhere', todo }];
  }
  const wanted = RESOURCES.filter(resource => resource !== 'members' || mirrorMembers);
  const lacking = installations.flatMap(({ id, organization, permissions }) => {
    const forbidden = wanted.filter(resource => !isPermitted(permissions, resource));
    if (forbidden.length === 0) return [];
    const names = [...new Set(forbidden.map(resource => `${ENTRY_OF[resource].permission}:read`))];
    return [
      {
        check: 'permissions',
        state: 'warn' as const,
        found: `${shortName(organization?.fullName ?? id)}: not permitted: ${forbidden.join(', ')}`,
        todo: `Ask for ${names.join(', ')} at the registry, and have the organization accept it.`,
      },
    ];
  });
  if (lacking.length > 0) return lacking;
  const unsaid = installations.filter(({ permissions }) => permissions === null).length;
  if (unsaid > 0) {
    const found = `the registry does not say them on ${unsaid} of ${installations.length} installations: everything is asked for`;
    return [ok('permissions', found)];
  }
  return [ok('permissions', `all that is mirrored may be read, on ${installations.length} installations`)];
}
