import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { PERMISSION_NAMES } from '../../../sandbox/registry/permissions.js';
import { LANDING_PATH } from '../../../webhook/pages.js';
import { type CommandGroup, command } from '../../command.js';
import { usageFault } from '../../exit.js';
import { emit } from '../../io.js';
import { choice, needed, text, texts, valued } from '../../options.js';
import { jsonText } from '../../output/output.js';
import { valueAt } from '../../value-at.js';
import { envLine } from '../demo/settings.js';
import { reachSandbox, SANDBOX_URL } from './reach.js';
import { START } from './start.js';

const RECEIVER = 'http://127.0.0.1:8080';

const app = command({
  says: 'Register an app, and print the settings of a program that is this app, ready for a file .env',
  words: { name: needed(text('name', 'name of the app')) },
  options: {
    permission: texts('name', `what to ask for, all that is wanted: ${PERMISSION_NAMES.join(', ')}`),
    webhookUrl: text('url', `where its webhooks go (default: ${RECEIVER}/webhooks)`),
    webhookSecret: text('text', 'what they are signed with (default: one that is made up)'),
    url: SANDBOX_URL,
  },
  examples: ['carbon-mirror sandbox app my-app --permission organization_warehouse:write > .env'],
  run: async (context, { name, permission: permissions, webhookUrl, webhookSecret, url: named }) => {
    const { url, control } = await reachSandbox(context, named);
    const secret = webhookSecret ?? randomBytes(32).toString('hex');
    const status = await control('GET', '/status');
    const profile = valueAt(status, 'profile');
    const made = await control('POST', '/apps', {
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
      REGISTRY_APP_ID: String(valueAt(made, 'id')),
      REGISTRY_PRIVATE_KEY_FILE: resolve(String(valueAt(made, 'privateKeyFile'))),
      WEBHOOK_SECRETS: secret,
    };
    for (const [key, value] of Object.entries(settings)) await emit(context.io, envLine(key, value));
    if (typeof profile === 'string') context.say(`The sandbox answers with the profile ${profile}.`);
    context.say(`Next: carbon-mirror install-url ${String(valueAt(made, 'nameId'))} --env-file FILE`);
  },
});

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

const call = command({
  says: 'Make one call of the control API: what people do at a registry, and what only a sandbox can',
  words: {
    method: needed(choice('method', 'what to do with it', METHODS)),
    path: needed(text('path', 'what stands after /_sandbox in docs/client-and-sandbox.md')),
  },
  options: { data: valued('json', 'the body', readJson), url: SANDBOX_URL },
  examples: [
    'carbon-mirror sandbox call GET /organizations',
    `carbon-mirror sandbox call POST /installations --data '{"appId":"ID","organizationId":"ID"}'`,
    'carbon-mirror sandbox call POST /installations/ID/suspend',
    `carbon-mirror sandbox call PATCH /webhooks --data '{"drop":1}'`,
    `carbon-mirror sandbox call POST /clock --data '{"moveMs":600000}'`,
    `carbon-mirror sandbox call POST /faults --data '{"kind":"status","options":{"status":503},"count":3}'`,
  ],
  run: async (context, { method, path, data, url }) => {
    if (!path.startsWith('/')) throw usageFault(`Expected a path such as /organizations, got "${path}".`);
    const { control } = await reachSandbox(context, url);
    const answer = await control(method, path, data);
    await emit(context.io, `${jsonText(answer, 2)}\n`);
  },
});

function readJson(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    throw usageFault(`--data: expected JSON, got "${said}".`);
  }
}

export const SANDBOX: CommandGroup = {
  says: 'A whole registry on this machine: start it, register an app; `call` acts for its people and loses webhooks',
  commands: { start: START, app, call },
};
