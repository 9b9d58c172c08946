import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { ControlClient } from '../../../sandbox/control/client.js';
import type { Field, Verb } from './verbs/verb.js';
import { LANDING_PATH } from '../../../webhook/pages.js';
import { envLine } from '../../env-line.js';
import { emit, type Io, say } from '../../io.js';
import { valueAt } from '../../paths.js';
import { runVerb, type Spoken } from './run.js';

const RECEIVER = 'http://127.0.0.1:8080';

interface Reached {
  readonly call: ControlClient;
  readonly url: string;
}

/** Registers the app for a receiver at the usual port, unless another is said, and prints all that it must be told. */
export async function registerForEnv(io: Io, verb: Verb, spoken: Spoken, { call, url }: Reached) {
  const said = (into: string) => spoken.find(([field]) => field.into === into)?.[1];
  const given = said('webhookSecret');
  const secret = typeof given === 'string' ? given : randomBytes(32).toString('hex');
  const defaults: Readonly<Record<string, string | readonly string[]>> = {
    webhookSecret: secret,
    webhookUrl: `${RECEIVER}/webhooks`,
    callbackUrls: [`${RECEIVER}${LANDING_PATH}`],
  };
  const filled: Spoken = spoken.map(([field, text]) => [field, text ?? fallbackOf(field, defaults)]);
  const status = await call('GET', '/status');
  const app = await runVerb(verb, filled, call);
  const file = valueAt(app, 'privateKeyFile');
  const settings = {
    REGISTRY_BASE_URL: url,
    REGISTRY_HEADER_PREFIX: String(valueAt(status, 'headerPrefix')),
    REGISTRY_APP_ID: String(valueAt(app, 'id')),
    ...(typeof file === 'string' && { REGISTRY_PRIVATE_KEY_FILE: resolve(file) }),
    WEBHOOK_SECRETS: secret,
  };
  for (const [name, value] of Object.entries(settings)) await emit(io, envLine(name, value));
  const nameId = String(valueAt(app, 'nameId'));
  say(
    io,
    ...describeProfile(valueAt(status, 'profile')),
    ...(file === undefined ? ['REGISTRY_PRIVATE_KEY_FILE is yours to add: the key is your own.'] : []),
    `Next: carbon-mirror install-url ${nameId} --env-file FILE, or`,
    `      carbon-mirror sandbox installations install --app ${nameId} --organization NAME`,
  );
}

function describeProfile(profile: unknown): string[] {
  return typeof profile === 'string' ? [`The sandbox answers with the profile ${profile}.`] : [];
}

function fallbackOf({ into }: Field, defaults: Readonly<Record<string, string | readonly string[]>>) {
  return defaults[into];
}
