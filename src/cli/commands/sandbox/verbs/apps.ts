import { PERMISSION_WORDS } from '../../../../sandbox/parts/permissions.js';
import { field, required, type VerbGroup } from './verb.js';

const APP = field('<app>', 'id', 'its id or name', { kind: 'app' });
const PERMISSIONS = field(
  '--permission <name...>',
  'permissions',
  `permissions to ask for, all that are wanted: ${PERMISSION_WORDS.join(', ')}`,
  { kind: 'texts' },
);
const INFO = field(
  '--organization-info <yes|no>',
  'organizationInfo',
  'no leaves organization_info out, which every app has otherwise: five calls are then refused',
  { kind: 'yes or no' },
);
const WEBHOOK = [
  field('--webhook-url <url>', 'webhookUrl', 'where its webhooks go'),
  field('--webhook-secret <text>', 'webhookSecret', 'what they are signed with'),
  field(
    '--callback-url <url...>',
    'callbackUrls',
    'where people may be sent after an installation; the first is the usual one',
    { kind: 'texts' },
  ),
];

export const APPS: VerbGroup = {
  name: 'apps',
  what: 'Apps that organizations may install',
  verbs: [
    {
      command: 'list',
      what: 'List the apps',
      route: 'GET /apps',
      list: 'apps',
      columns: ['id', 'name', 'permissions', 'webhookUrl', 'hasWebhookSecret'],
      example: 'apps list',
    },
    {
      command: 'show',
      what: 'Show one app; secrets are not shown',
      route: 'GET /apps/:id',
      fields: [APP],
      example: 'apps show my-app',
    },
    {
      command: 'register',
      what: 'Register an app; without a key of its own it is given one, in a file beside the database',
      route: 'POST /apps',
      fields: [
        required('--name <name>', 'name', 'name of the app'),
        PERMISSIONS,
        INFO,
        ...WEBHOOK,
        field('--public-key <file>', 'publicKey', 'its RSA public key, PEM', { kind: 'file' }),
      ],
      body: ({ publicKey, ...app }) =>
        publicKey === undefined ? { ...app, generateKey: true } : { ...app, publicKeys: [publicKey] },
      example:
        'apps register --name my-app --permission organization_warehouse:write --webhook-url http://127.0.0.1:3000/hook --webhook-secret "a long secret of mine"',
      makesApp: true,
      next: [
        'Settings of a program that is this app, beside REGISTRY_BASE_URL:',
        '  REGISTRY_APP_ID={id}',
        '  REGISTRY_PRIVATE_KEY_FILE={privateKeyFile|the private key of its own}',
        '  WEBHOOK_SECRETS=the secret that you gave',
        'Next: carbon-mirror sandbox installations install --app {nameId} --organization NAME',
      ],
    },
    {
      command: 'change',
      what: 'Ask for other permissions, or change where webhooks go',
      route: 'PATCH /apps/:id',
      fields: [APP, PERMISSIONS, INFO, ...WEBHOOK],
      example: 'apps change my-app --permission organization_warehouse:read organization_inventory:read',
      next: [
        'Installations keep their permissions until "carbon-mirror sandbox installations accept-permissions ID".',
      ],
    },
    {
      command: 'add-key',
      what: 'Give an app one more public key',
      route: 'POST /apps/:id/keys',
      fields: [APP, required('--public-key <file>', 'publicKey', 'RSA public key, PEM', 'file')],
      example: 'apps add-key my-app --public-key new.pem',
    },
    {
      command: 'remove-key',
      what: 'Take a public key away',
      route: 'DELETE /apps/:id/keys',
      fields: [
        APP,
        required('--fingerprint <text>', 'fingerprint', 'fingerprint of the key, as "apps show" has it'),
      ],
      example: 'apps remove-key my-app --fingerprint FINGERPRINT',
    },
  ],
};
