/**
 * The commands of the sandbox, a made-up registry on this machine: start it, register an app, and call its control API.
 * Calls are refused unless the URL is on this machine (connect.ts), so none of them can reach a real registry.
 */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { PERMISSION_NAMES } from '../../../sandbox/registry/permissions.js';
import { LANDING_PATH } from '../../../webhook/visitor-pages.js';
import { type CommandGroup, defineCommand } from '../../define-command.js';
import { createUsageError } from '../../command-error.js';
import { writeStdout } from '../../io.js';
import {
  defineChoice,
  defineFlag,
  makeRequired,
  defineText,
  defineTextList,
  defineParsedText,
} from '../../options.js';
import { toJson } from '../../output/output-formats.js';
import { getValueAtPath } from '../../value-at-path.js';
import { formatSetting } from '../demo/demo-settings.js';
import { connectToSandbox, SANDBOX_URL_OPTION } from './connect.js';
import { START } from './start-sandbox.js';

const RECEIVER_URL = 'http://127.0.0.1:8080';

const app = defineCommand({
  summary: 'Register an app and print its settings',
  details: 'Save the output as a .env file.',
  args: { name: makeRequired(defineText('name', 'name of the app')) },
  options: {
    permission: defineTextList('name', `permissions to request: ${PERMISSION_NAMES.join(', ')}`),
    webhookUrl: defineText('url', `URL for its webhooks (default: ${RECEIVER_URL}/webhooks)`),
    callbackUrl: defineTextList(
      'url',
      `URLs to return to after an installation (default: ${LANDING_PATH} at the host of --webhook-url)`,
    ),
    withoutOrganizationInfo: defineFlag('do not request organization_info, which is requested otherwise'),
    webhookSecret: defineText('text', 'secret that signs its webhooks (default: random)'),
    url: SANDBOX_URL_OPTION,
  },
  examples: ['carbon-mirror sandbox app my-app --permission organization_warehouse:write > .env'],
  run: async (context, options) => {
    const { name, permission: permissions, webhookSecret, withoutOrganizationInfo, url: urlOption } = options;
    const webhookUrl = options.webhookUrl ?? `${RECEIVER_URL}/webhooks`;
    const { url, control } = await connectToSandbox(context, urlOption);
    const secret = webhookSecret ?? randomBytes(32).toString('hex');
    const status = await control('GET', '/status');
    const profile = getValueAtPath(status, 'profile');
    const createdApp = await control('POST', '/apps', {
      name,
      permissions,
      organizationInfo: !withoutOrganizationInfo,
      webhookUrl,
      callbackUrls: options.callbackUrl ?? getDefaultCallbackUrls(webhookUrl),
      webhookSecret: secret,
      generateKey: true,
    });
    const settings = {
      REGISTRY_BASE_URL: url,
      REGISTRY_HEADER_PREFIX: String(getValueAtPath(status, 'headerPrefix')),
      REGISTRY_APP_ID: String(getValueAtPath(createdApp, 'id')),
      REGISTRY_PRIVATE_KEY_FILE: resolve(String(getValueAtPath(createdApp, 'privateKeyFile'))),
      WEBHOOK_SECRETS: secret,
    };
    for (const [key, value] of Object.entries(settings))
      await writeStdout(context.io, formatSetting(key, value));
    if (typeof profile === 'string') context.printNotice(`The sandbox uses the profile ${profile}.`);
    context.printNotice(
      `Next: carbon-mirror install-url ${String(getValueAtPath(createdApp, 'nameId'))} --env-file FILE`,
    );
  },
});

/** Returns the landing page at the host of the webhook URL. The sandbox refuses an invalid webhook URL itself. */
function getDefaultCallbackUrls(webhookUrl: string): readonly string[] {
  return URL.canParse(webhookUrl) ? [new URL(LANDING_PATH, webhookUrl).href] : [];
}

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

const call = defineCommand({
  summary: "Call the sandbox's control API",
  details: 'Acts as users of the registry, drops webhooks, moves the clock or injects faults.',
  args: {
    method: makeRequired(defineChoice('method', 'HTTP method', METHODS)),
    path: makeRequired(defineText('path', 'path below /_sandbox; see docs/client-and-sandbox.md')),
  },
  options: { data: defineParsedText('json', 'request body', parseJsonOption), url: SANDBOX_URL_OPTION },
  examples: [
    'carbon-mirror sandbox call GET /organizations',
    `carbon-mirror sandbox call POST /installations --data '{"appId":"ID","organizationId":"ID"}'`,
    'carbon-mirror sandbox call POST /installations/ID/suspend',
    `carbon-mirror sandbox call PATCH /webhooks --data '{"drop":1}'`,
    `carbon-mirror sandbox call POST /clock --data '{"moveMs":600000}'`,
    `carbon-mirror sandbox call POST /faults --data '{"kind":"status","options":{"status":503},"count":3}'`,
  ],
  run: async (context, { method, path, data, url }) => {
    if (!path.startsWith('/'))
      throw createUsageError(`Expected a path such as /organizations, got "${path}".`);
    const { control } = await connectToSandbox(context, url);
    const answer = await control(method, path, data);
    await writeStdout(context.io, `${toJson(answer, 2)}\n`);
  },
});

/** Parses the value of `--data` as JSON. Throws a usage error for invalid JSON. */
function parseJsonOption(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw createUsageError(`--data: expected JSON, got "${text}".`);
  }
}

export const SANDBOX: CommandGroup = {
  summary: 'Run a made-up registry on this machine',
  details: 'Use `sandbox call` to act as its users, drop webhooks or inject faults.',
  commands: { start: START, app, call },
};
