export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Shorter secrets can be guessed, and an HMAC with an empty one verifies without complaint. */
export const MIN_SECRET_CHARACTERS = 16;

export interface Setting {
  readonly name: string;
  readonly default: string | null;
  readonly what: string;
  readonly secret: boolean;
}

/** Every setting there is. README's table, .env.example and `doctor` are held against this one. */
export const SETTINGS: readonly Setting[] = [
  setting('REGISTRY_BASE_URL', null, 'where the registry is (https, or loopback)'),
  setting('REGISTRY_HEADER_PREFIX', 'registry', 'of `x-<prefix>-api-version`; `icr` for the public registry'),
  setting('REGISTRY_API_VERSION', '2023-06-16', 'sent with every call'),
  setting('REGISTRY_FIND_PATH', '/projects/find', 'also documented as `/projects/find/project`'),
  setting('REGISTRY_APP_ID', null, "the app's id"),
  secret('REGISTRY_PRIVATE_KEY', "the app's RSA key: PEM, PKCS#1 or PKCS#8; `\\n` escapes allowed"),
  setting('REGISTRY_PRIVATE_KEY_FILE', null, 'a file that holds it'),
  setting('REGISTRY_REQUESTS_PER_SECOND', '20', 'upper bound of calls, per process'),
  setting('REGISTRY_BURST', '40', 'calls that may go out at once after a pause'),
  secret('WEBHOOK_SECRETS', 'comma-separated, newest first; all are tried'),
  setting('WEBHOOK_SECRETS_FILE', null, 'a file that holds them'),
  setting('DATA_DIR', 'data', '`inbox.db`, `mirror.db`, `certificates/`; a demo lives in `data/demo/`'),
  setting('HOST', '127.0.0.1', 'the address the receiver listens on'),
  setting(
    'PORT',
    '8080',
    'the port the receiver listens on; where it is not set and taken, the next free one',
  ),
  setting('OPERATIONS_HOST', '127.0.0.1', 'the address of livez, readyz and metrics'),
  setting(
    'OPERATIONS_PORT',
    '8081 receive, 8082 work',
    'the port of livez, readyz and metrics, the next free one where it is taken; `0` = off',
  ),
  setting('SANDBOX_PORT', '8090', 'the port the sandbox listens on'),
  setting('SYNC_SCHEDULE', '*/15 * * * *', 'cron expression, in UTC: when everything is read again'),
  setting('WORKER_CONCURRENCY', '4', 'jobs at once'),
  setting(
    'MIRROR_MEMBERS',
    'on',
    '`off` keeps names and e-mails of members out of the mirror, and takes out those that stand in it',
  ),
  setting('RETENTION_DAYS', '90', 'how long finished work is kept; `0` = for ever'),
  setting(
    'DISK_RESERVE_MB',
    '1024, or 5 % of the disk where that is less',
    'free space of `DATA_DIR` that is for deliveries alone: below it reads and certificates pause; `0` = off',
  ),
  setting(
    'CONSOLE_PORT',
    '8070',
    'the port of the console; where it is not set and taken, the next free one',
  ),
  setting(
    'CONSOLE_NAMES',
    null,
    'comma-separated: further names by which a proxy or a tunnel calls the console',
  ),
  secret(
    'MIRROR_DATABASE_URL',
    'a PostgreSQL, 14 or later, that holds inbox and mirror instead of the files of `DATA_DIR`',
  ),
  setting('MIRROR_DATABASE_URL_FILE', null, 'a file that holds it'),
  setting('MIRROR_DATABASE_POOL', '2 receive, 4 work', 'connections to it at most, per process'),
  setting('LOG_LEVEL', 'info', 'one of trace, debug, info, warn, error, fatal, silent'),
];

/** A PostgreSQL. */
export interface DatabaseSettings {
  readonly url: string;
  /** Connections at most; null where the role decides. */
  readonly pool: number | null;
}

/** Where things are kept. */
export interface StoreSettings {
  readonly dataDir: string;
  /** Null where the size of the disk decides. */
  readonly diskReserveMb: number | null;
  /** Null where it is the files of `dataDir`. */
  readonly database: DatabaseSettings | null;
}

interface SharedSettings {
  readonly dataDir: string;
  readonly database: DatabaseSettings | null;
  readonly logLevel: LogLevel;
}

interface OperationsSettings {
  readonly operationsHost: string;
  readonly operationsPort: number;
  readonly retentionDays: number;
  /** Null where the size of the disk decides. */
  readonly diskReserveMb: number | null;
}

/** The receiver is given no private key. */
export interface ReceiveSettings extends SharedSettings, OperationsSettings {
  readonly headerPrefix: string;
  readonly appId: string;
  readonly webhookSecrets: readonly string[];
  readonly host: string;
  readonly port: number;
}

/** What it takes to ask the registry. */
interface LiveSettings extends SharedSettings {
  readonly baseUrl: string;
  readonly headerPrefix: string;
  readonly apiVersion: string;
  readonly findPath: string;
  readonly appId: string;
  readonly privateKey: string;
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** The worker is given no webhook secret. */
export interface WorkSettings extends LiveSettings, OperationsSettings {
  readonly syncSchedule: string;
  readonly workerConcurrency: number;
  readonly mirrorMembers: boolean;
}

interface SandboxSettings extends SharedSettings {
  readonly sandboxPort: number;
}

interface ConsoleSettings extends SharedSettings {
  readonly consolePort: number;
  readonly consoleNames: readonly string[];
}

export interface SettingsByRole {
  readonly receive: ReceiveSettings;
  readonly work: WorkSettings;
  readonly live: LiveSettings;
  readonly sandbox: SandboxSettings;
  readonly console: ConsoleSettings;
}
export type Role = keyof SettingsByRole;

export interface SettingsFault {
  readonly name: string;
  readonly expected: string;
  /** What was found, in words; never the text of a secret. */
  readonly came: string;
}

export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly faults: readonly SettingsFault[];

  constructor(faults: readonly SettingsFault[]) {
    const lines = faults.map(({ name, expected, came }) => `  ${name}: expected ${expected}; ${came}`);
    super(
      [faults.length === 1 ? 'One setting is wrong:' : `${faults.length} settings are wrong:`, ...lines].join(
        '\n',
      ),
    );
    this.faults = faults;
  }
}

function setting(name: string, standard: string | null, what: string): Setting {
  return { name, default: standard, what, secret: false };
}

function secret(name: string, what: string): Setting {
  return { name, default: null, what, secret: true };
}
