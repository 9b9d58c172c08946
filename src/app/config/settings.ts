import type { DatabaseSettings } from '../../store/settings.js';
import {
  parseBaseUrl,
  createPatternParser,
  convertParsed,
  parseHostNames,
  createNumberParser,
  createChoiceParser,
  makeOptional,
  parsePrivateKey,
  parseSchedule,
  parseWebhookSecrets,
  createTextParser,
  createIntegerParser,
} from './parsers.js';
import {
  defineExternalSetting,
  type SettingParser,
  type Role,
  ROLES,
  defineSetting,
  defineSecretSetting,
  type Setting,
} from './setting.js';

const LISTENING = ['receive', 'work'] as const;
const ASKING = ['work', 'live'] as const;
const NAMING = ['receive', 'work', 'live'] as const;
const ADDRESS = createPatternParser('a host name or an address', /^[\w.:-]{1,253}$/);
const PORT = createIntegerParser(0, 65_535);

/**
 * Every setting there is: its name, what it is called once it is read, who reads it and nobody else, its default, what it is
 * for and how it is read. .env.example and `doctor` are held against this one.
 */
const ROWS = [
  defineSetting(
    'REGISTRY_BASE_URL',
    'baseUrl',
    ASKING,
    null,
    'where the registry is (https, or loopback)',
    parseBaseUrl,
  ),
  defineSetting(
    'REGISTRY_HEADER_PREFIX',
    'headerPrefix',
    NAMING,
    'registry',
    'of `x-<prefix>-api-version`; `icr` for the public registry',
    createPatternParser('a plain word such as registry or icr', /^[a-z][a-z0-9-]{0,40}$/i),
  ),
  defineSetting(
    'REGISTRY_API_VERSION',
    'apiVersion',
    ASKING,
    '2023-06-16',
    'sent with every call',
    createPatternParser('a version such as 2023-06-16', /^[\w.-]{1,40}$/),
  ),
  defineSetting(
    'REGISTRY_APP_ID',
    'appId',
    NAMING,
    null,
    "the app's id",
    createPatternParser("the app's id: 1 to 128 letters, digits, - and _", /^[\w-]{1,128}$/),
  ),
  defineSecretSetting(
    'REGISTRY_PRIVATE_KEY',
    'privateKey',
    ASKING,
    "the app's RSA key: PEM, PKCS#1 or PKCS#8; `\\n` escapes allowed",
    parsePrivateKey,
  ),
  defineExternalSetting('REGISTRY_PRIVATE_KEY_FILE', null, 'a file that holds it'),
  defineSetting(
    'REGISTRY_REQUESTS_PER_SECOND',
    'requestsPerSecond',
    ASKING,
    '20',
    'upper bound of calls, per process',
    createNumberParser('a number from 0.1 to 10000', /^\d{1,5}(\.\d{1,3})?$/, 0.1, 10_000),
  ),
  defineSetting(
    'REGISTRY_BURST',
    'burst',
    ASKING,
    '40',
    'calls that may go out at once after a pause',
    createIntegerParser(1, 100_000),
  ),
  defineSecretSetting(
    'WEBHOOK_SECRETS',
    'webhookSecrets',
    ['receive'],
    'comma-separated (a secret can hold no comma), newest first; all are tried',
    parseWebhookSecrets,
  ),
  defineExternalSetting('WEBHOOK_SECRETS_FILE', null, 'a file that holds them'),
  defineSetting(
    'DATA_DIR',
    'dataDir',
    ROLES,
    'data',
    '`inbox.db`, `mirror.db`, `evidence.db`, `certificates/`; a demo lives in `data/demo/`',
    createTextParser('the name of a folder', value => !value.includes('\0')),
  ),
  defineSetting('HOST', 'host', ['receive'], '127.0.0.1', 'the address the receiver listens on', ADDRESS),
  defineSetting(
    'PORT',
    'port',
    ['receive'],
    '8080',
    'the port the receiver listens on; where it is not set and taken, the next free one',
    PORT,
  ),
  defineSetting(
    'OPERATIONS_HOST',
    'operationsHost',
    LISTENING,
    '127.0.0.1',
    'the address of livez, readyz and metrics',
    ADDRESS,
  ),
  defineSetting(
    'OPERATIONS_PORT',
    'operationsPort',
    LISTENING,
    { shown: '8081 receive, 8082 work', of: { receive: '8081', work: '8082' } },
    'the port of livez, readyz and metrics, the next free one where it is taken; `0` = off',
    PORT,
  ),
  defineSetting('SANDBOX_PORT', 'sandboxPort', ['sandbox'], '8090', 'the port the sandbox listens on', PORT),
  defineSetting(
    'SYNC_SCHEDULE',
    'syncSchedule',
    ['work'],
    '*/15 * * * *',
    'cron expression, in UTC: when everything is read again',
    parseSchedule,
  ),
  defineSetting(
    'WORKER_CONCURRENCY',
    'workerConcurrency',
    ['work'],
    '4',
    'jobs at once',
    createIntegerParser(1, 64),
  ),
  defineSetting(
    'MIRROR_MEMBERS',
    'mirrorMembers',
    ['work'],
    'on',
    '`off` keeps names and e-mails of members out of the mirror, and takes out those that stand in it',
    convertParsed(createChoiceParser(['on', 'off']), word => word === 'on'),
  ),
  defineSetting(
    'RETENTION_DAYS',
    'retentionDays',
    LISTENING,
    '90',
    'how long finished work is kept; `0` = for ever',
    createIntegerParser(0, 36_500),
  ),
  defineSetting(
    'DISK_RESERVE_MB',
    'diskReserveMb',
    LISTENING,
    { shown: '1024, or 5 % of the disk where that is less', of: {} },
    'free space of `DATA_DIR` that is for deliveries alone: below it reads and certificates pause; `0` = off',
    makeOptional(createIntegerParser(0, 999_999_999), null),
  ),
  defineSetting(
    'CONSOLE_PORT',
    'consolePort',
    ['console'],
    '8070',
    'the port of the console; where it is not set and taken, the next free one',
    PORT,
  ),
  defineSetting(
    'CONSOLE_NAMES',
    'consoleNames',
    ['console'],
    null,
    'comma-separated: further names by which a proxy or a tunnel calls the console',
    parseHostNames,
  ),
  defineExternalSetting(
    'MIRROR_DATABASE_URL',
    null,
    'a PostgreSQL, 14 or later, that holds inbox and mirror instead of the files of `DATA_DIR`',
    true,
  ),
  defineExternalSetting('MIRROR_DATABASE_URL_FILE', null, 'a file that holds it'),
  defineExternalSetting('MIRROR_DATABASE_POOL', '4', 'connections of a worker to it at most'),
  defineExternalSetting(
    'QUERY_DATABASE_URL',
    null,
    'as whom people ask it in SQL: the same database, by a role that may only read',
    true,
  ),
  defineExternalSetting('QUERY_DATABASE_URL_FILE', null, 'a file that holds it'),
  defineSetting(
    'EVIDENCE_KEY_FILE',
    'evidenceKeyFile',
    ['work'],
    null,
    'the key that signs checkpoints, made by `evidence init`; without one nothing is sealed',
    makeOptional(
      createTextParser('the name of a file', value => !value.includes('\0')),
      null,
    ),
  ),
  defineSetting(
    'LOG_LEVEL',
    'logLevel',
    ROLES,
    'info',
    'one of trace, debug, info, warn, error, fatal, silent',
    createChoiceParser(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  ),
];

export const SETTINGS: readonly Setting[] = ROWS;

type Row = (typeof ROWS)[number];

/** The rows that a role reads. */
type RowOf<R extends Role> = Row extends infer Each
  ? Each extends { readonly property: string; readonly roles: readonly (infer Reader)[] }
    ? R extends Reader
      ? Each
      : never
    : never
  : never;

/** What a role is given, and nothing else: a setting of another role is neither looked at nor held. */
type SettingsOf<R extends Role> = { readonly database: DatabaseSettings | null } & {
  readonly [Each in RowOf<R> as Each['property']]: Each extends { readonly read: SettingParser<infer Value> }
    ? Value
    : never;
};

/** The receiver is given no private key. */
export type ReceiveSettings = SettingsOf<'receive'>;
/** The worker is given no webhook secret. */
export type WorkSettings = SettingsOf<'work'>;
export type SettingsByRole = { readonly [R in Role]: SettingsOf<R> };
