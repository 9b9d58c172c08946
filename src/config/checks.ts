import { Cron } from 'croner';
import { z } from 'zod';
import { findWeakness } from './weak-secret.js';
import {
  type DatabaseSettings,
  LOG_LEVELS,
  MIN_SECRET_CHARACTERS,
  type Role,
  type SettingsByRole,
} from './settings.js';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

const text = (expected: string, fits: (value: string) => boolean) =>
  z.string({ error: expected }).refine(fits, { error: expected });
const like = (expected: string, shape: RegExp) => text(expected, value => shape.test(value));
const number = (expected: string, shape: RegExp, least: number, most: number) =>
  text(expected, value => shape.test(value) && Number(value) >= least && Number(value) <= most).transform(
    Number,
  );
const whole = (least: number, most: number) =>
  number(`a whole number from ${least} to ${most}`, /^\d{1,9}$/, least, most);
const oneOf = <const T extends readonly [string, ...string[]]>(words: T) =>
  z.enum(words, { error: `one of ${words.join(', ')}` });

const ADDRESS = like('a host name or an address', /^[\w.:-]{1,253}$/);
const PORT = whole(0, 65_535);

const SETTINGS_TEXT = z.object({
  REGISTRY_BASE_URL: text(
    'an https address, or http on a loopback one, without user, query or fragment',
    isBaseUrl,
  ).transform(url => new URL(url).href.replace(/\/+$/, '')),
  REGISTRY_HEADER_PREFIX: like('a plain word such as registry or icr', /^[a-z][a-z0-9-]{0,40}$/i),
  REGISTRY_API_VERSION: like('a version such as 2023-06-16', /^[\w.-]{1,40}$/),
  REGISTRY_FIND_PATH: like('an absolute path such as /projects/find', /^(\/[\w-]+)+$/),
  REGISTRY_APP_ID: like("the app's id: 1 to 128 letters, digits, - and _", /^[\w-]{1,128}$/),
  REGISTRY_PRIVATE_KEY: text("the app's private key as PEM text", value =>
    value.includes('PRIVATE KEY-----'),
  ),
  REGISTRY_REQUESTS_PER_SECOND: number('a number from 0.1 to 10000', /^\d{1,5}(\.\d{1,3})?$/, 0.1, 10_000),
  REGISTRY_BURST: whole(1, 100_000),
  WEBHOOK_SECRETS: z
    .string({ error: `secrets of at least ${MIN_SECRET_CHARACTERS} characters, separated by commas` })
    .transform(value => value.split(/,[\r\n]*|[\r\n]+/).map(each => each.trim()))
    .superRefine((secrets, context) => {
      for (const [index, secret] of secrets.entries()) {
        const message = findSecretFault(secret, `number ${index + 1} of ${secrets.length}`);
        if (message !== null) context.addIssue({ code: 'custom', message });
      }
    }),
  DATA_DIR: text('the name of a folder', value => !value.includes('\0')),
  HOST: ADDRESS,
  PORT,
  OPERATIONS_HOST: ADDRESS,
  OPERATIONS_PORT: PORT,
  SANDBOX_PORT: PORT,
  SYNC_SCHEDULE: text('a cron expression of five fields, such as */15 * * * *', isSchedule),
  WORKER_CONCURRENCY: whole(1, 64),
  MIRROR_MEMBERS: oneOf(['on', 'off']),
  RETENTION_DAYS: whole(0, 36_500),
  DISK_RESERVE_MB: whole(0, 999_999_999).optional(),
  CONSOLE_PORT: PORT,
  CONSOLE_NAMES: like('host names, separated by commas', /^[\w.,-]+$/)
    .optional()
    .transform(names =>
      (names ?? '')
        .toLowerCase()
        .split(',')
        .filter(name => name !== ''),
    ),
  LOG_LEVEL: oneOf(LOG_LEVELS),
  /** Read before: quick commands read it without these checks. */
  DATABASE: z.custom<DatabaseSettings | null>(() => true),
});

type SettingsText = z.output<typeof SETTINGS_TEXT>;

const SHARED = { DATA_DIR: true, LOG_LEVEL: true, DATABASE: true } as const;
const LISTENING = {
  OPERATIONS_HOST: true,
  OPERATIONS_PORT: true,
  RETENTION_DAYS: true,
  DISK_RESERVE_MB: true,
} as const;
const LIVE = {
  ...SHARED,
  REGISTRY_BASE_URL: true,
  REGISTRY_HEADER_PREFIX: true,
  REGISTRY_API_VERSION: true,
  REGISTRY_FIND_PATH: true,
  REGISTRY_APP_ID: true,
  REGISTRY_PRIVATE_KEY: true,
  REGISTRY_REQUESTS_PER_SECOND: true,
  REGISTRY_BURST: true,
} as const;

/** What each role reads, and nothing else: a setting of another role is neither looked at nor held. */
export const CHECKS: { readonly [R in Role]: z.ZodType<SettingsByRole[R]> } = {
  receive: SETTINGS_TEXT.pick({
    ...SHARED,
    ...LISTENING,
    REGISTRY_HEADER_PREFIX: true,
    REGISTRY_APP_ID: true,
    WEBHOOK_SECRETS: true,
    HOST: true,
    PORT: true,
  }).transform(given => ({
    ...shared(given),
    ...listening(given),
    headerPrefix: given.REGISTRY_HEADER_PREFIX,
    appId: given.REGISTRY_APP_ID,
    webhookSecrets: given.WEBHOOK_SECRETS,
    host: given.HOST,
    port: given.PORT,
  })),
  work: SETTINGS_TEXT.pick({
    ...LIVE,
    ...LISTENING,
    SYNC_SCHEDULE: true,
    WORKER_CONCURRENCY: true,
    MIRROR_MEMBERS: true,
  }).transform(given => ({
    ...live(given),
    ...listening(given),
    syncSchedule: given.SYNC_SCHEDULE,
    workerConcurrency: given.WORKER_CONCURRENCY,
    mirrorMembers: given.MIRROR_MEMBERS === 'on',
  })),
  live: SETTINGS_TEXT.pick(LIVE).transform(live),
  sandbox: SETTINGS_TEXT.pick({ ...SHARED, SANDBOX_PORT: true }).transform(given => ({
    ...shared(given),
    sandboxPort: given.SANDBOX_PORT,
  })),
  console: SETTINGS_TEXT.pick({ ...SHARED, CONSOLE_PORT: true, CONSOLE_NAMES: true }).transform(given => ({
    ...shared(given),
    consolePort: given.CONSOLE_PORT,
    consoleNames: given.CONSOLE_NAMES,
  })),
};

function shared(given: Pick<SettingsText, keyof typeof SHARED>) {
  return { dataDir: given.DATA_DIR, logLevel: given.LOG_LEVEL, database: given.DATABASE };
}

function listening(given: Pick<SettingsText, keyof typeof LISTENING>) {
  return {
    operationsHost: given.OPERATIONS_HOST,
    operationsPort: given.OPERATIONS_PORT,
    retentionDays: given.RETENTION_DAYS,
    diskReserveMb: given.DISK_RESERVE_MB ?? null,
  };
}

function live(given: Pick<SettingsText, keyof typeof LIVE>) {
  return {
    ...shared(given),
    baseUrl: given.REGISTRY_BASE_URL,
    headerPrefix: given.REGISTRY_HEADER_PREFIX,
    apiVersion: given.REGISTRY_API_VERSION,
    findPath: given.REGISTRY_FIND_PATH,
    appId: given.REGISTRY_APP_ID,
    privateKey: given.REGISTRY_PRIVATE_KEY,
    requestsPerSecond: given.REGISTRY_REQUESTS_PER_SECOND,
    burst: given.REGISTRY_BURST,
  };
}

function findSecretFault(secret: string, which: string): string | null {
  if (secret.length < MIN_SECRET_CHARACTERS) {
    return `at least ${MIN_SECRET_CHARACTERS} characters in each secret, not ${secret.length} as in ${which}`;
  }
  const weakness = findWeakness(secret);
  return weakness === null ? null : `random secrets (openssl rand -hex 32), but of ${which}: ${weakness}`;
}

function isBaseUrl(value: string): boolean {
  if (!URL.canParse(value) || /[?#@\s]/.test(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}

/** croner also takes a date, which would run once and then never again. */
function isSchedule(value: string): boolean {
  const fields = value.trim().split(/\s+/).length;
  if (!/^@(hourly|daily|weekly|monthly)$/.test(value) && (fields < 5 || fields > 6)) return false;
  try {
    return new Cron(value, { paused: true, utcOffset: 0 }).nextRun(new Date(0)) !== null;
  } catch {
    return false;
  }
}
