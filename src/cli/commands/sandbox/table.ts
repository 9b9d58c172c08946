import { PERMISSION_WORDS } from '../../../sandbox/registry/permissions.js';
import { FAULT_KINDS } from '../../../sandbox/trouble/kinds.js';
import type { Taken } from '../../taken.js';
import type { NAMES } from './names.js';

/** How the text of a word or an option is read. */
export type Kind =
  | 'text'
  | 'number'
  | 'time'
  | 'time back'
  | 'yes or no'
  | 'file'
  | 'json'
  | keyof typeof NAMES;

interface Field extends Taken<unknown> {
  readonly shows: string;
  readonly kind: Kind;
  /** Its place in what is sent, where that is not its name; a dot leads into an object. */
  readonly into?: string;
}

/** The commands of a thing that one route of the control API stands for. */
export interface Row {
  readonly of: keyof typeof THINGS | 'sandbox';
  /** Each verb, and what its command says of itself. */
  readonly says: Readonly<Record<string, string>>;
  /** Without one: a list of the thing, or what the verb does to one of them. */
  readonly route?: string;
  /** What stands after the command: the `id` of the route, where it is not said otherwise. */
  readonly word?: Field;
  readonly options?: Readonly<Record<string, Field>>;
  /** By verb: what is sent beside what was said. */
  readonly sends?: Readonly<Record<string, object>>;
  /** What is shown of the answer, where it is not what is shown of the thing; all of it where that is not told either. */
  readonly columns?: string;
  readonly example?: string;
  /** By verb: what may be wanted next. `{id}` is a value of the answer, `{id|none}` has words for none. */
  readonly next?: Readonly<Record<string, string>>;
  /** It makes an app whose settings can be printed for a program that is this app. */
  readonly makesApp?: boolean;
}

export interface Thing {
  readonly says: string;
  readonly columns?: string;
}

/** What people do with a registry and its description leaves to them; then what a sandbox can and a registry cannot. */
export const THINGS = {
  apps: { says: 'Apps that organizations may install' },
  organizations: { says: 'Organizations and their users', columns: 'id fullName type countryCode createdAt' },
  installations: {
    says: 'Apps on organizations',
    columns: 'id organization.fullName organization.id appNameId state permissions',
  },
  requests: {
    says: 'Inventory requests that wait for an administrator',
    columns: 'id action state amount creditId fromOrganizationId createdAt',
  },
  projects: { says: 'Projects that issue credits', columns: 'id num fullName isPublic shortDescription' },
  credits: { says: 'Issue credits and move them' },
  reservations: {
    says: 'Credits that apps have reserved',
    columns: 'id state amount creditId reservedToDate organizationId reserver.name',
  },
  tokens: {
    says: 'Access tokens',
    columns: 'id isActive expiresAt createdAt appId installationId organizationId',
  },
  calls: {
    says: 'Calls of the registry',
    columns: 'at method path status appId installationId version',
  },
  transactions: {
    says: 'Transfers and retirements',
    columns: 'id type status amount creditId organizationId receiverId appId createdAt',
  },
  deliveries: {
    says: 'Webhooks that were sent',
    columns: 'id event state attempts createdAt installationId url',
  },
  webhooks: { says: 'How deliveries travel: repeated, late, out of order, lost' },
  clock: {
    says: "The sandbox's own time, which tokens and reservations go by",
    columns: 'now isFrozen',
  },
  faults: {
    says: 'Trouble of the registry itself, route by route',
    columns: 'id method path kind options remaining hits',
  },
} satisfies Readonly<Record<string, Thing>>;

function field(shows: string, says: string, kind: Kind = 'text', into?: string): Field {
  return { shows, says, kind, read: typed => typed, ...(into !== undefined && { into }) };
}

function needed(...typed: Parameters<typeof field>): Field {
  return { ...field(...typed), isNeeded: true };
}

/** The setting speaks where the option does not. */
function elseSetting(name: string, option: Field): Field {
  return { ...option, fallback: ({ env }) => env[name] || undefined };
}

const LIMIT = { limit: field('n', 'show this many of the newest', 'number') };
const APP = { word: needed('app', 'its id or name', 'app'), example: 'my-app' };
const DELIVERY = { word: needed('delivery', 'its number', 'number'), example: '7' };
const ORGANIZATION = needed('name', 'id or name of the organization', 'organization');
const OF_ORGANIZATION = { ...ORGANIZATION, into: 'organizationId' };
const AMOUNT = needed('tonnes', 'how much', 'number');
const DESCRIPTION = field('text', 'one sentence');
const IS_PUBLIC = field('yes|no', 'whether it is listed', 'yes or no', 'isPublic');
const TIME = 'as in 30s, 10m, 2h or 1d';
const PERMISSIONS = `permissions to ask for, all that are wanted: ${PERMISSION_WORDS.join(', ')}`;
const NO_INFO = 'no leaves organization_info out, which every app has otherwise: five calls are then refused';
const CALLBACK = 'where people may be sent after an installation; the first is the usual one';
const OF_APP = {
  permission: field('name...', PERMISSIONS, 'text', 'permissions'),
  organizationInfo: field('yes|no', NO_INFO, 'yes or no'),
  webhookUrl: field('url', 'where its webhooks go'),
  webhookSecret: field('text', 'what they are signed with'),
  callbackUrl: field('url...', CALLBACK, 'text', 'callbackUrls'),
};

export const ROWS: readonly Row[] = [
  {
    of: 'sandbox',
    says: {
      status:
        'Show its time, header prefix and profile, where its data stands, and how many calls came without a version header',
    },
    route: 'GET /status',
  },
  {
    of: 'apps',
    says: { list: 'List the apps' },
    columns: 'id name permissions webhookUrl hasWebhookSecret',
  },
  { of: 'apps', says: { show: 'Show one app; secrets are not shown' }, route: 'GET /apps/:id', ...APP },
  {
    of: 'apps',
    says: {
      register: 'Register an app; without a key of its own it is given one, in a file beside the database',
    },
    route: 'POST /apps',
    options: {
      name: needed('name', 'name of the app'),
      ...OF_APP,
      publicKey: field('file...', 'its RSA public key, PEM', 'file', 'publicKeys'),
    },
    sends: { register: { generateKey: true } },
    example:
      '--name my-app --permission organization_warehouse:write --webhook-url http://127.0.0.1:3000/hook --webhook-secret "a long secret of mine"',
    makesApp: true,
    next: {
      register: `Settings of a program that is this app, beside REGISTRY_BASE_URL:
  REGISTRY_APP_ID={id}
  REGISTRY_PRIVATE_KEY_FILE={privateKeyFile|the private key of its own}
  WEBHOOK_SECRETS=the secret that you gave
Next: carbon-mirror sandbox installations install --app {nameId} --organization NAME`,
    },
  },
  {
    of: 'apps',
    says: { change: 'Ask for other permissions, or change where webhooks go' },
    route: 'PATCH /apps/:id',
    word: APP.word,
    options: OF_APP,
    example: 'my-app --permission organization_warehouse:read organization_inventory:read',
    next: {
      change:
        'Installations keep their permissions until "carbon-mirror sandbox installations accept-permissions ID".',
    },
  },
  {
    of: 'apps',
    says: { 'add-key': 'Give an app one more public key' },
    route: 'POST /apps/:id/keys',
    word: APP.word,
    options: { publicKey: needed('file', 'RSA public key, PEM', 'file') },
    example: 'my-app --public-key new.pem',
  },
  {
    of: 'apps',
    says: { 'remove-key': 'Take a public key away' },
    route: 'DELETE /apps/:id/keys',
    word: APP.word,
    options: { fingerprint: needed('text', 'fingerprint of the key, as "apps show" has it') },
    example: 'my-app --fingerprint FINGERPRINT',
  },
  { of: 'organizations', says: { list: 'List the organizations' } },
  {
    of: 'organizations',
    says: { create: 'Create a user and an organization, without an app' },
    route: 'POST /organizations',
    options: {
      name: needed('name', 'name of the organization', 'text', 'organization.fullName'),
      type: needed(
        'type',
        'projectProponent, projectDeveloper, marketParticipant, validationBody or other',
        'text',
        'organization.type',
      ),
      country: field('code', 'two capital letters', 'text', 'organization.countryCode'),
      email: needed('address', 'e-mail address of its user', 'text', 'user.email'),
      userName: field('name', 'name of its user', 'text', 'user.fullName'),
    },
    columns: 'organization.id organization.fullName organization.type user.id user.email',
    example: '--name "Harbour Ferries" --type marketParticipant --country IS --email ada@harbour.example',
  },
  {
    of: 'organizations',
    says: { claim: 'Let the user claim an organization that an app created' },
    word: needed('organization', 'its id or name', 'organization'),
    columns: 'id fullName type updatedAt',
    example: '"Harbour Ferries"',
  },
  { of: 'installations', says: { list: 'List all installations, with their state' } },
  {
    of: 'installations',
    says: { install: 'Install an app on an organization, with the permissions that it asks for' },
    route: 'POST /installations',
    options: {
      app: elseSetting(
        'REGISTRY_APP_ID',
        needed('name', 'id or name of the app (default: REGISTRY_APP_ID)', 'app', 'appId'),
      ),
      organization: OF_ORGANIZATION,
    },
    example: '--app my-app --organization "Harbour Ferries"',
  },
  {
    of: 'installations',
    says: {
      uninstall: 'Take the app off its organization',
      suspend: 'Suspend an installation',
      unsuspend: 'Let a suspended installation work again',
      'accept-permissions': 'Grant what the app asks for now',
    },
    word: needed('installation', 'its id, or the name of its organization', 'installation'),
    example: '"Harbour Ferries"',
    next: {
      uninstall: 'Uninstalled: what its app has reserved stays with the app.',
      suspend: 'Suspended: its tokens answer 403 until "carbon-mirror sandbox installations unsuspend ID".',
      unsuspend: 'It works again.',
    },
  },
  {
    of: 'requests',
    says: { list: 'List the newest inventory requests of all organizations' },
    options: LIMIT,
  },
  {
    of: 'requests',
    says: { accept: 'Accept a request: its credits move or are retired', decline: 'Decline a request' },
    word: needed('request', 'its id'),
  },
  { of: 'projects', says: { list: 'List the projects, public or not' } },
  {
    of: 'projects',
    says: { create: 'Create a project' },
    route: 'POST /projects',
    options: {
      name: needed('name', 'name of the project', 'text', 'fullName'),
      shortDescription: DESCRIPTION,
      public: IS_PUBLIC,
      country: field('code', 'two capital letters', 'text', 'countryCode'),
      proponent: field('id', 'whose it is', 'organization', 'proponentId'),
    },
    example: '--name "Peat bog at Myrar" --country IS',
    next: {
      create: 'Next: "carbon-mirror sandbox credits issue --project NAME --organization NAME --amount 100".',
    },
  },
  {
    of: 'projects',
    says: { change: "Change a project's name, description, or whether it is public" },
    route: 'PATCH /projects/:id',
    word: needed('project', 'its id, name or number', 'project'),
    options: {
      name: field('name', 'its new name', 'text', 'fullName'),
      shortDescription: DESCRIPTION,
      public: IS_PUBLIC,
    },
    example: '"Sonapur Wind Farm" --public no',
  },
  {
    of: 'credits',
    says: { issue: 'Issue a new credit of a project, or more of one that exists' },
    route: 'POST /credits',
    options: {
      organization: OF_ORGANIZATION,
      amount: AMOUNT,
      project: field('id', 'of a new credit', 'project', 'projectId'),
      creditId: field('id', 'of one that exists'),
      place: field('place', 'warehouse or inventory (default: inventory)'),
      vintage: field('year', 'of a new credit'),
      type: field('type', 'exPost or exAnte'),
      serialization: field('text', 'of a new credit'),
    },
    example: '--project 103 --organization "Harbour Ferries" --amount 100 --place warehouse',
  },
  {
    of: 'credits',
    says: {
      deposit: 'Move credits from the inventory into the warehouse',
      withdraw: 'Move credits from the warehouse into the inventory',
      'retire-off-platform':
        'Retire credits of the inventory outside the platform: a retirement that nobody has claimed',
    },
    route: 'POST /organizations/:organization/:verb',
    options: { organization: ORGANIZATION, creditId: needed('id', 'id of the credit'), amount: AMOUNT },
    example: '--organization "Harbour Ferries" --credit-id ID --amount 12.5',
  },
  {
    of: 'credits',
    says: { 'claim-retirement': 'Say for whom and why a retirement was made, or correct that' },
    route: 'PATCH /retirements/:id',
    word: needed('retirement', 'its id'),
    options: {
      beneficiary: needed('name', 'for whom'),
      reason: needed('text', 'why'),
      comment: field('text', 'anything else'),
    },
    columns: 'id isClaimed beneficiary reason comment amount serialization createdAt',
    example: 'ID --beneficiary "Harbour Ferries" --reason "Voluntary purposes"',
  },
  {
    of: 'reservations',
    says: { list: 'List the newest reservations of all organizations' },
    options: LIMIT,
  },
  {
    of: 'reservations',
    says: { expire: 'End one now, as if its ten minutes were over' },
    word: needed('reservation', 'its id'),
  },
  { of: 'tokens', says: { list: 'List the newest; what opens them is not shown' }, options: LIMIT },
  {
    of: 'tokens',
    says: { expire: 'End one now, as if its two hours were over' },
    word: needed('token', 'its id'),
  },
  {
    of: 'calls',
    says: { list: 'List the newest calls, by app and installation' },
    options: {
      app: field('name', 'of one app, by id or name', 'app', 'appId'),
      installation: field(
        'name',
        'of one installation, by id or the name of its organization',
        'installation',
        'installationId',
      ),
      ...LIMIT,
    },
    example: '--app my-app --limit 20',
  },
  {
    of: 'transactions',
    says: { list: 'List the newest, with the app that made each' },
    options: LIMIT,
    example: '--limit 5',
  },
  {
    of: 'transactions',
    says: {
      process: 'Carry out one that is queued',
      fail: 'Let one that is queued fail: its credits go back',
    },
    word: needed('transaction', 'its id'),
  },
  { of: 'deliveries', says: { list: 'List the newest, with what came of each attempt' }, options: LIMIT },
  {
    of: 'deliveries',
    says: { show: 'Show one, with its body and signature' },
    route: 'GET /deliveries/:id',
    columns: '',
    ...DELIVERY,
  },
  {
    of: 'deliveries',
    says: { resend: 'Send one more copy', drop: 'Lose one that is held' },
    ...DELIVERY,
  },
  {
    of: 'deliveries',
    says: { release: 'Let held ones go, in the order given; all of them where none is named' },
    route: 'POST /deliveries/release',
    word: field('delivery...', 'their numbers', 'number', 'ids'),
    example: '9 8 7',
  },
  { of: 'webhooks', says: { show: 'Show how they travel now' }, route: 'GET /webhooks' },
  {
    of: 'webhooks',
    says: { change: 'Change how they travel; what is not named stays' },
    route: 'PATCH /webhooks',
    options: {
      drop: field('n', 'lose this many of the next deliveries', 'number'),
      duplicate: field('n', 'send this many more copies of each', 'number'),
      delay: field('time', 'send each later, as in 500ms or 2s', 'time', 'delayMs'),
      reorder: field('n', 'keep this many, then send them in reverse', 'number'),
      hold: field('yes|no', 'keep each until it is released', 'yes or no'),
      attempts: field('n', 'tries, until one is answered 2xx', 'number'),
      backoff: field('time', 'before the second try; then doubled', 'time', 'backoffMs'),
      timeout: field('time', 'how long an answer may take', 'time', 'timeoutMs'),
    },
    example: '--duplicate 1 --reorder 3',
  },
  { of: 'clock', says: { show: 'Show its time' }, route: 'GET /clock' },
  {
    of: 'clock',
    says: { move: 'Move it ahead' },
    route: 'POST /clock',
    word: needed('time', TIME, 'time', 'moveMs'),
    example: '10m',
  },
  {
    of: 'clock',
    says: { back: 'Move it back' },
    route: 'POST /clock',
    word: needed('time', TIME, 'time back', 'moveMs'),
    example: '1h',
  },
  {
    of: 'clock',
    says: { set: 'Set it' },
    route: 'POST /clock',
    word: needed('instant', 'as in 2026-12-31T23:59:00Z', 'text', 'at'),
    example: '2026-12-31T23:59:00Z',
  },
  {
    of: 'clock',
    says: { freeze: 'Make it stand still', run: 'Let it run on' },
    route: 'POST /clock',
    sends: { freeze: { frozen: true }, run: { frozen: false } },
  },
  { of: 'faults', says: { list: 'List the faults, and how often each has struck' } },
  {
    of: 'faults',
    says: { add: 'Add one; docs/client-and-sandbox.md says what each kind does' },
    route: 'POST /faults',
    word: needed('kind', `one of ${FAULT_KINDS.join(', ')}`, 'text', 'kind'),
    options: {
      method: field('name', 'of one method only'),
      path: field('pattern', '* is one segment, ** any rest (default: every path)'),
      count: field('n', 'for this many calls (default: every call)', 'number'),
      status: field('n', 'of status, html, redirect, wrongShape, pageLimit', 'number', 'options.status'),
      retryAfter: field('text', 'of status: seconds or a date', 'text', 'options.retryAfter'),
      body: field(
        'json',
        'of status, wrongShape and pageLimit; of says: by id, the members to put in place of the true ones',
        'json',
        'options.body',
      ),
      location: field('url', 'of redirect', 'text', 'options.location'),
      bytes: field('n', 'of cut: how much still comes', 'number', 'options.bytes'),
      cleanEnd: field('yes|no', 'of cut: looks whole', 'yes or no', 'options.cleanEnd'),
      interval: field('time', 'of slow: between bytes', 'time', 'options.intervalMs'),
      delay: field('time', 'of delay', 'time', 'options.delayMs'),
      rows: field('n', 'of pageSize, pageLimit, rowsAppear, rowsDisappear', 'number', 'options.rows'),
    },
    example: "status --status 503 --retry-after 2 --path '/organizations/*/retirements' --count 3",
  },
  {
    of: 'faults',
    says: { remove: 'Remove one' },
    route: 'DELETE /faults/:id',
    word: needed('fault', 'its number', 'number'),
    example: '1',
  },
  { of: 'faults', says: { clear: 'Remove all of them' }, route: 'DELETE /faults' },
];
