/**
 * The table of all settings: environment variable, property, roles that read it, default, description and parser. A role gets
 * its own settings and no others, so that the receiver holds no private key and the worker no webhook secret. Tests compare
 * .env.example with this table.
 */
import type { DatabaseSettings } from '../../store/settings.js';
import {
  parseBaseUrl,
  createPatternParser,
  convertParsed,
  parseHostNames,
  parseOrigins,
  parseOutboundAllow,
  createNumberParser,
  createChoiceParser,
  makeOptional,
  parsePrivateKey,
  parseSchedule,
  parseWebhookSecrets,
  createTextParser,
  createIntegerParser,
} from './setting-parsers.js';
import { parseProxyOrigin, parseProxySecret } from './console-proxy-settings.js';
import {
  defineExternalSetting,
  defineSetting,
  type SettingParser,
  type Role,
  ROLES,
  type Setting,
} from './define-setting.js';

const OPERATED_ROLES = ['receive', 'work'] as const;
const MONITORED_ROLES = ['receive', 'work', 'api'] as const;
const REGISTRY_ROLES = ['work', 'live'] as const;
const APP_ROLES = ['receive', 'work', 'live'] as const;

const parseHost = createPatternParser('a host name or an address', /^[\w.:-]{1,253}$/);
const parsePort = createIntegerParser(0, 65_535);
const createPathParser = (expected: string) => createTextParser(expected, value => !value.includes('\0'));

const DEFINITIONS = [
  defineSetting({
    name: 'REGISTRY_BASE_URL',
    property: 'baseUrl',
    roles: REGISTRY_ROLES,
    description: 'The URL of the registry: https, or http on a loopback address.',
    parse: parseBaseUrl,
  }),
  defineSetting({
    name: 'REGISTRY_HEADER_PREFIX',
    property: 'headerPrefix',
    roles: APP_ROLES,
    default: 'registry',
    description: 'The prefix in `x-<prefix>-api-version` and other headers; `icr` for the public registry.',
    parse: createPatternParser('a plain word such as registry or icr', /^[a-z][a-z0-9-]{0,40}$/i),
  }),
  defineSetting({
    name: 'REGISTRY_API_VERSION',
    property: 'apiVersion',
    roles: REGISTRY_ROLES,
    default: '2023-06-16',
    description: 'The API version that is sent with every request.',
    parse: createPatternParser('a version such as 2023-06-16', /^[\w.-]{1,40}$/),
  }),
  defineSetting({
    name: 'REGISTRY_APP_ID',
    property: 'appId',
    roles: APP_ROLES,
    description: 'The id of the app.',
    parse: createPatternParser("the app's id: 1 to 128 letters, digits, - and _", /^[\w-]{1,128}$/),
  }),
  defineSetting({
    name: 'REGISTRY_PRIVATE_KEY',
    property: 'privateKey',
    roles: REGISTRY_ROLES,
    description:
      'The RSA private key of the app as PEM (PKCS#1 or PKCS#8); line breaks may be written as `\\n`.',
    secret: true,
    parse: parsePrivateKey,
  }),
  defineExternalSetting({
    name: 'REGISTRY_PRIVATE_KEY_FILE',
    description: 'A file that contains REGISTRY_PRIVATE_KEY.',
  }),
  defineSetting({
    name: 'REGISTRY_REQUESTS_PER_SECOND',
    property: 'requestsPerSecond',
    roles: REGISTRY_ROLES,
    default: '20',
    description: 'The maximum number of requests per second to the registry, for each process.',
    parse: createNumberParser('a number from 0.1 to 10000', /^\d{1,5}(\.\d{1,3})?$/, 0.1, 10_000),
  }),
  defineSetting({
    name: 'REGISTRY_BURST',
    property: 'burst',
    roles: REGISTRY_ROLES,
    default: '40',
    description: 'The maximum number of requests that may be sent at once after a pause.',
    parse: createIntegerParser(1, 100_000),
  }),
  defineSetting({
    name: 'WEBHOOK_SECRETS',
    property: 'webhookSecrets',
    roles: ['receive'],
    description: 'Webhook secrets separated by commas, newest first. All of them are tried.',
    secret: true,
    parse: parseWebhookSecrets,
  }),
  defineExternalSetting({
    name: 'WEBHOOK_SECRETS_FILE',
    description: 'A file that contains WEBHOOK_SECRETS.',
  }),
  defineSetting({
    name: 'DATA_DIR',
    property: 'dataDir',
    roles: ROLES,
    default: 'data',
    description:
      'The folder that contains `inbox.db`, `mirror.db`, `evidence.db`, `events.db` and `certificates/`.',
    parse: createPathParser('the name of a folder'),
  }),
  defineSetting({
    name: 'HOST',
    property: 'host',
    roles: ['receive'],
    default: '127.0.0.1',
    description: 'The address on which the receiver listens.',
    parse: parseHost,
  }),
  defineSetting({
    name: 'PORT',
    property: 'port',
    roles: ['receive'],
    default: '8080',
    description: 'The port of the receiver. If it is unset and 8080 is in use, the next free port is taken.',
    parse: parsePort,
  }),
  defineSetting({
    name: 'OPERATIONS_HOST',
    property: 'operationsHost',
    roles: MONITORED_ROLES,
    default: '127.0.0.1',
    description: 'The address on which /livez, /readyz and /metrics listen.',
    parse: parseHost,
  }),
  defineSetting({
    name: 'OPERATIONS_PORT',
    property: 'operationsPort',
    roles: MONITORED_ROLES,
    default: {
      shown: '8081 receive, 8082 work, 8083 api',
      byRole: { receive: '8081', work: '8082', api: '8083' },
    },
    description:
      'The port of /livez, /readyz and /metrics; 0 turns them off. If it is in use, the next free port is taken.',
    parse: parsePort,
  }),
  defineSetting({
    name: 'SANDBOX_PORT',
    property: 'sandboxPort',
    roles: ['sandbox'],
    default: '8090',
    description: 'The port of the sandbox.',
    parse: parsePort,
  }),
  defineSetting({
    name: 'SYNC_SCHEDULE',
    property: 'syncSchedule',
    roles: ['work'],
    default: '*/15 * * * *',
    description: 'The schedule of reads, as a cron expression in UTC.',
    parse: parseSchedule,
  }),
  defineSetting({
    name: 'WORKER_CONCURRENCY',
    property: 'workerConcurrency',
    roles: ['work'],
    default: '4',
    description: 'The maximum number of jobs that run at the same time.',
    parse: createIntegerParser(1, 64),
  }),
  defineSetting({
    name: 'MIRROR_MEMBERS',
    property: 'mirrorMembers',
    roles: ['work'],
    default: 'on',
    description:
      '`off` keeps names and e-mail addresses of members out of the mirror, and removes stored ones.',
    parse: convertParsed(createChoiceParser(['on', 'off']), choice => choice === 'on'),
  }),
  defineSetting({
    name: 'RETENTION_DAYS',
    property: 'retentionDays',
    roles: OPERATED_ROLES,
    default: '90',
    description:
      'The number of days for which finished jobs, syncs and deliveries are kept; 0 keeps them for ever.',
    parse: createIntegerParser(0, 36_500),
  }),
  defineSetting({
    name: 'DISK_RESERVE_MB',
    property: 'diskReserveMb',
    roles: OPERATED_ROLES,
    default: { shown: '1024, or 5 % of the disk where that is less', byRole: {} },
    description:
      'The free space in MiB on the disk of DATA_DIR that is reserved for deliveries. With less, reads and certificate downloads pause; 0 turns this off.',
    parse: makeOptional(createIntegerParser(0, 999_999_999), null),
  }),
  defineSetting({
    name: 'CONSOLE_PORT',
    property: 'consolePort',
    roles: ['console'],
    default: '8070',
    description: 'The port of the console. If it is unset and 8070 is in use, the next free port is taken.',
    parse: parsePort,
  }),
  defineSetting({
    name: 'CONSOLE_NAMES',
    property: 'consoleNames',
    roles: ['console'],
    description: 'Further host names of the console, such as the name of a proxy, separated by commas.',
    parse: parseHostNames,
  }),
  defineSetting({
    name: 'CONSOLE_HOST',
    property: 'consoleHost',
    roles: ['console'],
    default: '127.0.0.1',
    description:
      'The address on which the console listens. Another than a loopback address requires sign-in through a proxy.',
    parse: parseHost,
  }),
  defineSetting({
    name: 'CONSOLE_PROXY_HEADER',
    property: 'consoleProxyHeader',
    roles: ['console'],
    description:
      "The header with the visitor's name that the company's sign-in proxy sets, such as X-Auth-Request-Email. Visitors then sign in only through it.",
    parse: makeOptional(
      convertParsed(createPatternParser('the name of a header', /^[a-z][a-z0-9-]{0,60}$/i), name =>
        name.toLowerCase(),
      ),
      null,
    ),
  }),
  defineSetting({
    name: 'CONSOLE_PROXY_FROM',
    property: 'consoleProxyFrom',
    roles: ['console'],
    description:
      'The addresses or ranges from which that proxy connects, separated by commas, or the path of a Unix socket on which the console listens for it.',
    parse: parseProxyOrigin,
  }),
  defineSetting({
    name: 'CONSOLE_PROXY_SECRET',
    property: 'consoleProxySecret',
    roles: ['console'],
    description: 'The secret that the proxy sends in the header X-Console-Proxy-Secret.',
    secret: true,
    parse: parseProxySecret,
  }),
  defineExternalSetting({
    name: 'CONSOLE_PROXY_SECRET_FILE',
    description: 'A file that contains CONSOLE_PROXY_SECRET.',
  }),
  defineSetting({
    name: 'CONSOLE_ACTORS_FILE',
    property: 'consoleActorsFile',
    roles: ['console'],
    description:
      'A file with a name and a role (read or act) on each line. Visitors of the proxy who are not in it may only read.',
    parse: makeOptional(createPathParser('the name of a file'), null),
  }),
  defineSetting({
    name: 'CONSOLE_ACTIONS',
    property: 'consoleActions',
    roles: ['console', 'work'],
    default: 'off',
    description:
      '`on` lets people who may act reserve, retire, transfer and release credits in the console. The worker needs it, too.',
    parse: convertParsed(createChoiceParser(['on', 'off']), choice => choice === 'on'),
  }),
  defineSetting({
    name: 'API_HOST',
    property: 'apiHost',
    roles: ['api'],
    default: '127.0.0.1',
    description: 'The address on which the HTTP API listens.',
    parse: parseHost,
  }),
  defineSetting({
    name: 'API_PORT',
    property: 'apiPort',
    roles: ['api'],
    default: '8060',
    description: 'The port of the HTTP API. If it is unset and 8060 is in use, the next free port is taken.',
    parse: parsePort,
  }),
  defineSetting({
    name: 'API_REQUESTS_PER_MINUTE',
    property: 'apiRequestsPerMinute',
    roles: ['api'],
    default: '600',
    description: 'The number of requests that each token may send within a minute.',
    parse: createIntegerParser(1, 1_000_000),
  }),
  defineSetting({
    name: 'API_CORS_ORIGINS',
    property: 'apiCorsOrigins',
    roles: ['api'],
    description:
      'Origins whose web pages may call the HTTP API with a token, such as https://shop.example.org, separated by commas.',
    parse: parseOrigins,
  }),
  defineExternalSetting({
    name: 'MIRROR_DATABASE_URL',
    description:
      'The URL of a PostgreSQL database (14 or later) that stores inbox and mirror instead of files in DATA_DIR.',
    secret: true,
  }),
  defineExternalSetting({
    name: 'MIRROR_DATABASE_URL_FILE',
    description: 'A file that contains MIRROR_DATABASE_URL.',
  }),
  defineExternalSetting({
    name: 'MIRROR_DATABASE_POOL',
    default: '4',
    description: 'The maximum number of connections of a worker to PostgreSQL.',
  }),
  defineExternalSetting({
    name: 'QUERY_DATABASE_URL',
    description: 'The URL of the same PostgreSQL database with a read-only role, for SQL queries.',
    secret: true,
  }),
  defineExternalSetting({
    name: 'QUERY_DATABASE_URL_FILE',
    description: 'A file that contains QUERY_DATABASE_URL.',
  }),
  defineSetting({
    name: 'EVIDENCE_KEY_FILE',
    property: 'evidenceKeyFile',
    roles: ['work'],
    description:
      'The file with the key that signs checkpoints, created by `evidence init`. Without it, the evidence log is not written.',
    parse: makeOptional(createPathParser('the name of a file'), null),
  }),
  defineSetting({
    name: 'EVIDENCE_CHECKPOINT_FILE',
    property: 'evidenceCheckpointFile',
    roles: ['work'],
    description:
      'A file that always contains the newest signed checkpoint, for example in a folder that a web server publishes.',
    parse: makeOptional(createPathParser('the name of a file'), null),
  }),
  defineSetting({
    name: 'EVIDENCE_TIMESTAMP_URL',
    property: 'evidenceTimestampUrl',
    roles: ['work'],
    description:
      'The URL of a timestamp authority (RFC 3161) that signs the first checkpoint of each day; http or https.',
    parse: makeOptional(
      createTextParser('an http or https URL', value => {
        const url = URL.canParse(value) ? new URL(value) : null;
        return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
      }),
      null,
    ),
  }),
  defineSetting({
    name: 'EVENTS_KEY_FILE',
    property: 'eventsKeyFile',
    roles: ['work'],
    description:
      'The file with the key from which the secrets of subscriptions are derived. The first `subscriptions add` creates it. Without it, no events are sent.',
    parse: makeOptional(createPathParser('the name of a file'), null),
  }),
  defineSetting({
    name: 'OUTBOUND_ALLOW',
    property: 'outboundAllow',
    roles: ['work'],
    description:
      'Address ranges beside public ones to which events and timestamp requests may be sent: loopback, private, or both separated by a comma.',
    parse: makeOptional(parseOutboundAllow, []),
  }),
  defineSetting({
    name: 'LOG_LEVEL',
    property: 'logLevel',
    roles: ROLES,
    default: 'info',
    description: 'The lowest level of log lines: trace, debug, info, warn, error, fatal or silent.',
    parse: createChoiceParser(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  }),
];

export const SETTINGS: readonly Setting[] = DEFINITIONS;

type AnyDefinition = (typeof DEFINITIONS)[number];

/** The definitions of the settings that a role reads. */
type DefinitionReadBy<R extends Role> = AnyDefinition extends infer Each
  ? Each extends { readonly property: string; readonly roles: readonly (infer Reader)[] }
    ? R extends Reader
      ? Each
      : never
    : never
  : never;

/** The parsed settings of one role. */
type SettingsOf<R extends Role> = { readonly database: DatabaseSettings | null } & {
  readonly [Each in DefinitionReadBy<R> as Each['property']]: Each extends {
    readonly parse: SettingParser<infer Value>;
  }
    ? Value
    : never;
};

export type ReceiveSettings = SettingsOf<'receive'>;
export type WorkSettings = SettingsOf<'work'>;
export type SettingsByRole = { readonly [R in Role]: SettingsOf<R> };
