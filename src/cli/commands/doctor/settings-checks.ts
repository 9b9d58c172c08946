import { createHash, createPublicKey } from 'node:crypto';
import { readSettings } from '../../../app/config/read-settings.js';
import type { Environment } from '../../../app/config/define-setting.js';
import { SettingsError } from '../../../app/config/settings-error.js';
import type { WorkSettings } from '../../../app/config/settings-table.js';
import { readPrivateKey } from '../../../registry/auth/private-key.js';
import { fail, type Finding, ok, warn } from '../../../store/contract/finding.js';

const OLD_SECRETS_ADVICE =
  'Remove the older ones once no delivery is signed with them (deliveries.secret_index).';

/** Yields findings about the settings. Returns the settings of the worker at the end. */
export async function* checkSettings(env: Environment): AsyncGenerator<Finding, WorkSettings | null> {
  const findings = new Map<string, Finding>();
  const addFindings = (error: unknown) => {
    if (!(error instanceof SettingsError)) throw error;
    for (const { name, expected, problem } of error.faults)
      findings.set(name, fail('settings', `${name}: ${problem}`, `${name}: expected ${expected}.`));
    return null;
  };
  const receiveSettings = await readSettings(env, 'receive').catch(addFindings);
  const workSettings = await readSettings(env, 'work').catch(addFindings);
  if (findings.size === 0) yield ok('settings', 'complete for receiver and worker');
  yield* findings.values();
  if (workSettings !== null) yield checkPrivateKey(workSettings.privateKey);
  const secretCount = receiveSettings?.webhookSecrets.length ?? 0;
  if (secretCount === 1) yield ok('secret', 'one webhook secret, long enough');
  if (secretCount > 1)
    yield warn('secret', `${secretCount} webhook secrets are accepted`, OLD_SECRETS_ADVICE);
  return workSettings;
}

/** Reports the size of a private key and the fingerprint of its public key. */
function checkPrivateKey(pem: string): Finding {
  const privateKey = readPrivateKey(pem);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const fingerprint = createHash('sha256').update(publicKey).digest('base64');
  const bits = privateKey.asymmetricKeyDetails?.modulusLength;
  return ok('key', `RSA, ${bits} bits; SHA-256 of its public key: ${fingerprint}`);
}
