import type { DatabaseSettings } from '../../store/settings.js';
import {
  baseUrl,
  like,
  made,
  names,
  number,
  oneOf,
  optional,
  privateKey,
  schedule,
  secrets,
  text,
  whole,
} from './readings.js';
import { elsewhere, type Read, type Role, ROLES, row, secret, type Setting } from './row.js';

const LISTENING = ['receive', 'work'] as const;
const ASKING = ['work', 'live'] as const;
const NAMING = ['receive', 'work', 'live'] as const;
const ADDRESS = like('a host name or an address', /^[\w.:-]{1,253}$/);
const PORT = whole(0, 65_535);

/**
 * Every setting there is: its name, what it is called once it is read, who reads it and nobody else, its default, what it is
 * for and how it is read. .env.example and `doctor` are held against this one.
 */
const ROWS = [
  row('REGISTRY_BASE_URL', 'baseUrl', ASKING, null, 'where the registry is (https, or loopback)', baseUrl),
  row(
    'REGISTRY_HEADER_PREFIX',
    'headerPrefix',
    NAMING,
    'registry',
    'of `x-<prefix>-api-version`; `icr` for the public registry',
    like('a plain word such as registry or icr', /^[a-z][a-z0-9-]{0,40}$/i),
  ),
  row(
    'REGISTRY_API_VERSION',
    'apiVersion',
    ASKING,
    '2023-06-16',
    'sent with every call',
    like('a version such as 2023-06-16', /^[\w.-]{1,40}$/),
  ),
  row(
    'REGISTRY_APP_ID',
    'appId',
    NAMING,
    null,
    "the app's id",
    like("the app's id: 1 to 128 letters, digits, - and _", /^[\w-]{1,128}$/),
  ),
  secret(
    'REGISTRY_PRIVATE_KEY',
    'privateKey',
    ASKING,
    "the app's RSA key: PEM, PKCS#1 or PKCS#8; `\\n` escapes allowed",
    privateKey,
  ),
  elsewhere('REGISTRY_PRIVATE_KEY_FILE', null, 'a file that holds it'),
  row(
    'REGISTRY_REQUESTS_PER_SECOND',
    'requestsPerSecond',
    ASKING,
    '20',
    'upper bound of calls, per process',
    number('a number from 0.1 to 10000', /^\d{1,5}(\.\d{1,3})?$/, 0.1, 10_000),
  ),
  row(
    'REGISTRY_BURST',
    'burst',
    ASKING,
    '40',
    'calls that may go out at once after a pause',
    whole(1, 100_000),
  ),
  secret(
    'WEBHOOK_SECRETS',
    'webhookSecrets',
    ['receive'],
    'comma-separated (a secret can hold no comma), newest first; all are tried',
    secrets,
  ),
  elsewhere('WEBHOOK_SECRETS_FILE', null, 'a file that holds them'),
  row(
    'DATA_DIR',
    'dataDir',
    ROLES,
    'data',
    '`inbox.db`, `mirror.db`, `evidence.db`, `certificates/`; a demo lives in `data/demo/`',
    text('the name of a folder', value => !value.includes('\0')),
  ),
  row('HOST', 'host', ['receive'], '127.0.0.1', 'the address the receiver listens on', ADDRESS),
  row(
    'PORT',
    'port',
    ['receive'],
    '8080',
    'the port the receiver listens on; where it is not set and taken, the next free one',
    PORT,
  ),
  row(
    'OPERATIONS_HOST',
    'operationsHost',
    LISTENING,
    '127.0.0.1',
    'the address of livez, readyz and metrics',
    ADDRESS,
  ),
  row(
    'OPERATIONS_PORT',
    'operationsPort',
    LISTENING,
    { shown: '8081 receive, 8082 work', of: { receive: '8081', work: '8082' } },
    'the port of livez, readyz and metrics, the next free one where it is taken; `0` = off',
    PORT,
  ),
  row('SANDBOX_PORT', 'sandboxPort', ['sandbox'], '8090', 'the port the sandbox listens on', PORT),
  row(
    'SYNC_SCHEDULE',
    'syncSchedule',
    ['work'],
    '*/15 * * * *',
    'cron expression, in UTC: when everything is read again',
    schedule,
  ),
  row('WORKER_CONCURRENCY', 'workerConcurrency', ['work'], '4', 'jobs at once', whole(1, 64)),
  row(
    'MIRROR_MEMBERS',
    'mirrorMembers',
    ['work'],
    'on',
    '`off` keeps names and e-mails of members out of the mirror, and takes out those that stand in it',
    made(oneOf(['on', 'off']), word => word === 'on'),
  ),
  row(
    'RETENTION_DAYS',
    'retentionDays',
    LISTENING,
    '90',
    'how long finished work is kept; `0` = for ever',
    whole(0, 36_500),
  ),
  row(
    'DISK_RESERVE_MB',
    'diskReserveMb',
    LISTENING,
    { shown: '1024, or 5 % of the disk where that is less', of: {} },
    'free space of `DATA_DIR` that is for deliveries alone: below it reads and certificates pause; `0` = off',
    optional(whole(0, 999_999_999), null),
  ),
  row(
    'CONSOLE_PORT',
    'consolePort',
    ['console'],
    '8070',
    'the port of the console; where it is not set and taken, the next free one',
    PORT,
  ),
  row(
    'CONSOLE_NAMES',
    'consoleNames',
    ['console'],
    null,
    'comma-separated: further names by which a proxy or a tunnel calls the console',
    names,
  ),
  elsewhere(
    'MIRROR_DATABASE_URL',
    null,
    'a PostgreSQL, 14 or later, that holds inbox and mirror instead of the files of `DATA_DIR`',
    true,
  ),
  elsewhere('MIRROR_DATABASE_URL_FILE', null, 'a file that holds it'),
  elsewhere('MIRROR_DATABASE_POOL', '4', 'connections of a worker to it at most'),
  elsewhere(
    'QUERY_DATABASE_URL',
    null,
    'as whom people ask it in SQL: the same database, by a role that may only read',
    true,
  ),
  elsewhere('QUERY_DATABASE_URL_FILE', null, 'a file that holds it'),
  row(
    'EVIDENCE_KEY_FILE',
    'evidenceKeyFile',
    ['work'],
    null,
    'the key that signs checkpoints, made by `evidence init`; without one nothing is sealed',
    optional(
      text('the name of a file', value => !value.includes('\0')),
      null,
    ),
  ),
  row(
    'LOG_LEVEL',
    'logLevel',
    ROLES,
    'info',
    'one of trace, debug, info, warn, error, fatal, silent',
    oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
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
  readonly [Each in RowOf<R> as Each['property']]: Each extends { readonly read: Read<infer Value> }
    ? Value
    : never;
};

/** The receiver is given no private key. */
export type ReceiveSettings = SettingsOf<'receive'>;
/** The worker is given no webhook secret. */
export type WorkSettings = SettingsOf<'work'>;
export type SettingsByRole = { readonly [R in Role]: SettingsOf<R> };
