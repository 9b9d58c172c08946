import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { ControlClient } from '../../../sandbox/control/client.js';
import { LANDING_PATH } from '../../../webhook/pages.js';
import type { Context } from '../../context.js';
import { envLine } from '../../env-line.js';
import { emit } from '../../io.js';
import { valueAt } from '../../paths.js';

type Given = Readonly<Record<string, unknown>>;

const RECEIVER = 'http://127.0.0.1:8080';

/** Registers the app for a receiver at the usual port, unless another is said, and prints all that it must be told. */
export async function printAppEnv(
  { io, say }: Context,
  { control, url }: { readonly control: ControlClient; readonly url: string },
  given: Given,
  register: (given: Given) => Promise<unknown>,
): Promise<void> {
  const { webhookSecret: typed } = given;
  const secret = typeof typed === 'string' ? typed : randomBytes(32).toString('hex');
  const usual = { webhookUrl: `${RECEIVER}/webhooks`, callbackUrls: [`${RECEIVER}${LANDING_PATH}`] };
  const status = await control('GET', '/status');
  const app = await register({ ...usual, ...given, webhookSecret: secret });
  const [file, nameId] = [valueAt(app, 'privateKeyFile'), String(valueAt(app, 'nameId'))];
  const settings = {
    REGISTRY_BASE_URL: url,
    REGISTRY_HEADER_PREFIX: String(valueAt(status, 'headerPrefix')),
    REGISTRY_APP_ID: String(valueAt(app, 'id')),
    ...(typeof file === 'string' && { REGISTRY_PRIVATE_KEY_FILE: resolve(file) }),
    WEBHOOK_SECRETS: secret,
  };
  for (const [name, value] of Object.entries(settings)) await emit(io, envLine(name, value));
  const profile = valueAt(status, 'profile');
  if (typeof profile === 'string') say(`The sandbox answers with the profile ${profile}.`);
  if (file === undefined) say('REGISTRY_PRIVATE_KEY_FILE is yours to add: the key is your own.');
  say(
    `Next: carbon-mirror install-url ${nameId} --env-file FILE, or`,
    `      carbon-mirror sandbox installations install --app ${nameId} --organization NAME`,
  );
}
