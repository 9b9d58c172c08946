import { createHash, createPublicKey } from 'node:crypto';
import { readPrivateKey } from '../../../auth/private-key.js';
import { readSettings } from '../../../config/config.js';
import { SettingsError } from '../../../config/fault.js';
import type { Role } from '../../../config/row.js';
import type { SettingsByRole, WorkSettings } from '../../../config/settings.js';
import { type Finding, ok } from '../../../engines/contract/finding.js';
import type { Place } from '../../place/place.js';

export interface SettingsExamined {
  readonly findings: readonly Finding[];
  /** Null where they are not complete. */
  readonly work: WorkSettings | null;
}

export async function checkSettings({ env }: Place): Promise<SettingsExamined> {
  const receive = await read(env, 'receive');
  const work = await read(env, 'work');
  const faults = new Map([...receive.faults, ...work.faults].map(fault => [fault.found, fault]));
  const findings: Finding[] = [
    ...(faults.size === 0 ? [ok('settings', 'complete for receive and for work')] : faults.values()),
    ...(work.settings === null ? [] : checkKey(work.settings.privateKey)),
    ...(receive.settings === null ? [] : [checkSecrets(receive.settings.webhookSecrets)]),
  ];
  return { findings, work: work.settings };
}

async function read<R extends Role>(
  env: Place['env'],
  role: R,
): Promise<{ readonly settings: SettingsByRole[R] | null; readonly faults: readonly Finding[] }> {
  try {
    return { settings: await readSettings(env, role), faults: [] };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const faults = error.faults.map(({ name, expected, came }) => ({
      check: 'settings',
      state: 'fail' as const,
      found: `${name}: ${came}`,
      todo: `${name}: expected ${expected}.`,
    }));
    return { settings: null, faults };
  }
}

/** The fingerprint is that of the public half, which the registry shows too. */
function checkKey(pem: string): Finding[] {
  try {
    const key = readPrivateKey(pem);
    const open = createPublicKey(key).export({ type: 'spki', format: 'der' });
    const print = createHash('sha256').update(open).digest('base64');
    const bits = key.asymmetricKeyDetails?.modulusLength;
    return [ok('key', `RSA, ${bits} bits; SHA-256 of its public half: ${print}`)];
  } catch (error) {
    return [
      {
        check: 'key',
        state: 'fail',
        found: error instanceof Error ? error.message : 'it cannot be read',
        todo: "Set REGISTRY_PRIVATE_KEY or REGISTRY_PRIVATE_KEY_FILE to the app's key from the registry.",
      },
    ];
  }
}

function checkSecrets(secrets: readonly string[]): Finding {
  if (secrets.length === 1) return ok('secret', 'one webhook secret, long enough');
  return {
    check: 'secret',
    state: 'warn',
    found: `${secrets.length} webhook secrets are accepted`,
    todo: 'When no delivery is signed with an older one any more (deliveries.secret_index), remove it.',
  };
}
