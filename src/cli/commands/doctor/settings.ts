import { createHash, createPublicKey } from 'node:crypto';
import { readPrivateKey } from '../../../registry/auth/private-key.js';
import type { Environment } from '../../../app/config/row.js';
import { readSettings } from '../../../app/config/config.js';
import { SettingsError } from '../../../app/config/fault.js';
import type { WorkSettings } from '../../../app/config/settings.js';
import { type Finding, fail, ok, warn } from '../../../store/contract/finding.js';

const ON_OLD_SECRETS =
  'When no delivery is signed with an older one any more (deliveries.secret_index), remove it.';

/** Answers those of a worker; null where they are not complete. */
export async function* checkSettings(env: Environment): AsyncGenerator<Finding, WorkSettings | null> {
  const faults = new Map<string, Finding>();
  const add = (error: unknown) => {
    if (!(error instanceof SettingsError)) throw error;
    for (const { name, expected, came } of error.faults)
      faults.set(name, fail('settings', `${name}: ${came}`, `${name}: expected ${expected}.`));
    return null;
  };
  const receive = await readSettings(env, 'receive').catch(add);
  const work = await readSettings(env, 'work').catch(add);
  if (faults.size === 0) yield ok('settings', 'complete for receive and for work');
  yield* faults.values();
  if (work !== null) yield checkKey(work.privateKey);
  const secrets = receive?.webhookSecrets.length ?? 0;
  if (secrets === 1) yield ok('secret', 'one webhook secret, long enough');
  if (secrets > 1) yield warn('secret', `${secrets} webhook secrets are accepted`, ON_OLD_SECRETS);
  return work;
}

/** The fingerprint is that of the public half, which the registry shows too. */
function checkKey(pem: string): Finding {
  try {
    const key = readPrivateKey(pem);
    const open = createPublicKey(key).export({ type: 'spki', format: 'der' });
    const print = createHash('sha256').update(open).digest('base64');
    const bits = key.asymmetricKeyDetails?.modulusLength;
    return ok('key', `RSA, ${bits} bits; SHA-256 of its public half: ${print}`);
  } catch (error) {
    const found = error instanceof Error ? error.message : 'it cannot be read';
    const todo = "Set REGISTRY_PRIVATE_KEY or REGISTRY_PRIVATE_KEY_FILE to the app's key from the registry.";
    return fail('key', found, todo);
  }
}
