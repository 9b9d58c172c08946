import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { PERMISSION_WORDS } from '../../../sandbox/registry/permissions.js';
import { LANDING_PATH } from '../../../webhook/pages.js';
import { command } from '../../command.js';
import { envLine } from '../demo/settings.js';
import { emit } from '../../io.js';
import { needed, text, texts } from '../../options.js';
import { valueAt } from '../../value-at.js';
import { reachSandbox, SANDBOX_URL } from './reach.js';

const RECEIVER = 'http://127.0.0.1:8080';

export const APP = command({
  says: 'Register an app, and print the settings of a program that is this app, ready for a file .env',
  words: { name: needed(text('name', 'name of the app')) },
  options: {
    permission: texts('name', `what to ask for, all that is wanted: ${PERMISSION_WORDS.join(', ')}`),
    webhookUrl: text('url', `where its webhooks go (default: ${RECEIVER}/webhooks)`),
    webhookSecret: text('text', 'what they are signed with (default: one that is made up)'),
    url: SANDBOX_URL,
  },
  examples: ['carbon-mirror sandbox app my-app --permission organization_warehouse:write > .env'],
  run: async (context, { name, permission: permissions, webhookUrl, webhookSecret, url: named }) => {
    const { url, control } = reachSandbox(context, named);
    const secret = webhookSecret ?? randomBytes(32).toString('hex');
    const status = await control('GET', '/status');
    const profile = valueAt(status, 'profile');
    const app = await control('POST', '/apps', {
      name,
      permissions,
      webhookUrl: webhookUrl ?? `${RECEIVER}/webhooks`,
      callbackUrls: [`${RECEIVER}${LANDING_PATH}`],
      webhookSecret: secret,
      generateKey: true,
    });
    const settings = {
      REGISTRY_BASE_URL: url,
      REGISTRY_HEADER_PREFIX: String(valueAt(status, 'headerPrefix')),
      REGISTRY_APP_ID: String(valueAt(app, 'id')),
      REGISTRY_PRIVATE_KEY_FILE: resolve(String(valueAt(app, 'privateKeyFile'))),
      WEBHOOK_SECRETS: secret,
    };
    for (const [key, value] of Object.entries(settings)) await emit(context.io, envLine(key, value));
    if (typeof profile === 'string') context.say(`The sandbox answers with the profile ${profile}.`);
    context.say(`Next: carbon-mirror install-url ${String(valueAt(app, 'nameId'))} --env-file FILE`);
  },
});
