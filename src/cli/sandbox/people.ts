import { valueAt } from '../paths.js';
import {
  APP,
  INSTALLATION,
  INSTALLED,
  LIMIT,
  OF_ORGANIZATION,
  ORGANIZATION,
  PERMISSIONS,
  REQUEST,
  REQUESTS,
  WEBHOOK,
} from './fields.js';
import type { VerbGroup } from './verb.js';

/** What people do with a registry, and its description leaves to them. */
export const PEOPLE: readonly VerbGroup[] = [
  {
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
          { flags: '--name <name>', into: 'name', required: true, what: 'name of the app' },
          PERMISSIONS,
          ...WEBHOOK,
          { flags: '--public-key <file>', into: 'publicKey', kind: 'file', what: 'its RSA public key, PEM' },
        ],
        body: ({ publicKey, ...app }) =>
          publicKey === undefined ? { ...app, generateKey: true } : { ...app, publicKeys: [publicKey] },
        example:
          'apps register --name my-app --permission organization_warehouse:write --webhook-url http://127.0.0.1:3000/hook --webhook-secret "a long secret of mine"',
        next: describeSettings,
      },
      {
        command: 'change',
        what: 'Ask for other permissions, or change where webhooks go',
        route: 'PATCH /apps/:id',
        fields: [APP, PERMISSIONS, ...WEBHOOK],
        example: 'apps change my-app --permission organization_warehouse:read organization_inventory:read',
        next: 'Installations keep their permissions until "carbon-mirror sandbox installations accept-permissions ID".',
      },
      {
        command: 'add-key',
        what: 'Give an app one more public key',
        route: 'POST /apps/:id/keys',
        fields: [
          APP,
          {
            flags: '--public-key <file>',
            into: 'publicKey',
            kind: 'file',
            required: true,
            what: 'RSA public key, PEM',
          },
        ],
        example: 'apps add-key my-app --public-key new.pem',
      },
      {
        command: 'remove-key',
        what: 'Take a public key away',
        route: 'DELETE /apps/:id/keys',
        fields: [
          APP,
          {
            flags: '--fingerprint <text>',
            into: 'fingerprint',
            required: true,
            what: 'fingerprint of the key, as "apps show" has it',
          },
        ],
        example: 'apps remove-key my-app --fingerprint FINGERPRINT',
      },
    ],
  },
  {
    name: 'organizations',
    what: 'Organizations and their users',
    verbs: [
      {
        command: 'list',
        what: 'List the organizations',
        route: 'GET /organizations',
        list: 'organizations',
        columns: ['id', 'fullName', 'type', 'countryCode', 'createdAt'],
        example: 'organizations list',
      },
      {
        command: 'create',
        what: 'Create a user and an organization, without an app',
        route: 'POST /organizations',
        fields: [
          {
            flags: '--name <name>',
            into: 'organization.fullName',
            required: true,
            what: 'name of the organization',
          },
          {
            flags: '--type <type>',
            into: 'organization.type',
            required: true,
            what: 'projectProponent, projectDeveloper, marketParticipant, validationBody or other',
          },
          { flags: '--country <code>', into: 'organization.countryCode', what: 'two capital letters' },
          {
            flags: '--email <address>',
            into: 'user.email',
            required: true,
            what: 'e-mail address of its user',
          },
          { flags: '--user-name <name>', into: 'user.fullName', what: 'name of its user' },
        ],
        columns: ['organization.id', 'organization.fullName', 'organization.type', 'user.id', 'user.email'],
        example:
          'organizations create --name "Harbour Ferries" --type marketParticipant --country IS --email ada@harbour.example',
      },
      {
        command: 'claim',
        what: 'Let the user claim an organization that an app created',
        route: 'POST /organizations/:id/claim',
        fields: [ORGANIZATION],
        columns: ['id', 'fullName', 'type', 'updatedAt'],
        example: 'organizations claim "Harbour Ferries"',
      },
    ],
  },
  {
    name: 'installations',
    what: 'Apps on organizations',
    verbs: [
      {
        command: 'list',
        what: 'List all installations, with their state',
        route: 'GET /installations',
        list: 'installations',
        columns: INSTALLED,
        example: 'installations list',
      },
      {
        command: 'install',
        what: 'Install an app on an organization, with the permissions that it asks for',
        route: 'POST /installations',
        fields: [
          {
            flags: '--app <name>',
            into: 'appId',
            kind: 'app',
            required: true,
            setting: 'REGISTRY_APP_ID',
            what: 'id or name of the app (default: REGISTRY_APP_ID)',
          },
          { ...OF_ORGANIZATION, into: 'organizationId' },
        ],
        columns: INSTALLED,
        example: 'installations install --app my-app --organization "Harbour Ferries"',
      },
      {
        command: 'uninstall',
        what: 'Take the app off its organization',
        route: 'POST /installations/:id/uninstall',
        fields: [INSTALLATION],
        columns: INSTALLED,
        example: 'installations uninstall "Harbour Ferries"',
        next: 'Uninstalled: what its app holds of the organization stays with the app.',
      },
      {
        command: 'suspend',
        what: 'Suspend an installation',
        route: 'POST /installations/:id/suspend',
        fields: [INSTALLATION],
        columns: INSTALLED,
        example: 'installations suspend "Harbour Ferries"',
        next: 'Suspended: its tokens answer 403 until "carbon-mirror sandbox installations unsuspend ID".',
      },
      {
        command: 'unsuspend',
        what: 'Let a suspended installation work again',
        route: 'POST /installations/:id/unsuspend',
        fields: [INSTALLATION],
        columns: INSTALLED,
        example: 'installations unsuspend "Harbour Ferries"',
        next: 'It works again.',
      },
      {
        command: 'accept-permissions',
        what: 'Grant what the app asks for now',
        route: 'POST /installations/:id/accept-permissions',
        fields: [INSTALLATION],
        columns: INSTALLED,
        example: 'installations accept-permissions "Harbour Ferries"',
      },
    ],
  },
  {
    name: 'requests',
    what: 'Inventory requests that wait for an administrator',
    verbs: [
      {
        command: 'list',
        what: 'List the newest inventory requests of all organizations',
        route: 'GET /requests',
        fields: [LIMIT],
        list: 'creditRequests',
        columns: REQUESTS,
        example: 'requests list',
      },
      {
        command: 'accept',
        what: 'Accept a request: its credits move or are retired',
        route: 'POST /requests/:id/accept',
        fields: [REQUEST],
        columns: REQUESTS,
        example: 'requests accept ID',
      },
      {
        command: 'decline',
        what: 'Decline a request',
        route: 'POST /requests/:id/decline',
        fields: [REQUEST],
        columns: REQUESTS,
        example: 'requests decline ID',
      },
    ],
  },
];

/** What a program that is this app has to be told. */
function describeSettings(app: unknown): string[] {
  const keyFile = valueAt(app, 'privateKeyFile');
  return [
    `Settings of a program that is this app, beside REGISTRY_BASE_URL:`,
    `  REGISTRY_APP_ID=${String(valueAt(app, 'id'))}`,
    `  REGISTRY_PRIVATE_KEY_FILE=${typeof keyFile === 'string' ? keyFile : 'the private key of its own'}`,
    '  WEBHOOK_SECRETS=the secret that you gave',
    `Next: carbon-mirror sandbox installations install --app ${String(valueAt(app, 'nameId'))} --organization NAME`,
  ];
}
