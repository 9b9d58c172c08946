import { type ReadTextFile, resolveSecretFile } from './secret-file.js';
import type { SettingsFault } from './settings-error.js';
import type { DatabaseSettings } from '../../store/settings.js';
import { maskUrl, formatSettingValue } from './mask-setting.js';
import type { Environment } from './define-setting.js';

const URL_NAME = 'MIRROR_DATABASE_URL';
const QUERY_URL_NAME = 'QUERY_DATABASE_URL';
const POOL_NAME = 'MIRROR_DATABASE_POOL';
/** A worker needs a connection for LISTEN besides one for queries. */
const MIN_CONNECTIONS = 2;
const MAX_CONNECTIONS = 100;
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** Returns whether the environment configures a PostgreSQL database, even with an invalid URL. */
export function hasDatabaseUrl(env: Environment): boolean {
  return hasSecret(env, URL_NAME);
}

/** Returns whether the variable `name` or `<name>_FILE` is set. */
function hasSecret(env: Environment, name: string): boolean {
  return Boolean(env[name] || env[`${name}_FILE`]);
}

/** Returns the database URLs and their passwords, so that they can be masked. */
export function listDatabaseSecrets(database: DatabaseSettings | null): string[] {
  return [database?.url ?? null, database?.queryUrl ?? null].flatMap(url => {
    if (url === null) return [];
    const { password } = new URL(url.replace('@/', '@localhost/'));
    return [url, password, decodeURIComponent(password)];
  });
}

export interface DatabaseSettingsResult {
  /** Null if no PostgreSQL is named, or if there are faults. */
  readonly database: DatabaseSettings | null;
  readonly faults: readonly SettingsFault[];
}

/** Reads and checks the PostgreSQL settings. */
export function readDatabaseSettings(env: Environment, readFile: ReadTextFile): DatabaseSettingsResult {
  // DATABASE_URL is ignored, because that variable belongs to other programs.
  const nonEmpty = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  if (!hasDatabaseUrl(env))
    return { database: null, faults: hasSecret(env, QUERY_URL_NAME) ? [QUERY_URL_ALONE] : [] };
  const main = readDatabaseUrl(nonEmpty, URL_NAME, readFile);
  const query = readDatabaseUrl(nonEmpty, QUERY_URL_NAME, readFile);
  const pool = nonEmpty[POOL_NAME] ?? null;
  const faults = [...main.faults, ...query.faults, ...findPoolFaults(pool)];
  if (faults.length > 0 || main.url === null) return { database: null, faults };
  const poolSize = pool === null ? null : Number(pool);
  return { database: { url: main.url, queryUrl: query.url, pool: poolSize }, faults: [] };
}

const QUERY_URL_ALONE = {
  name: QUERY_URL_NAME,
  expected: `${URL_NAME} to be set too`,
  problem: 'it is not set',
};

/** A database URL, null if there is none, and the faults of its setting. With any fault, the URL must not be used. */
interface DatabaseUrlResult {
  readonly url: string | null;
  readonly faults: readonly SettingsFault[];
}

/**
 * Returns the database URL from the variable `name`, or from the file that `<name>_FILE` names, together with its faults. Returns
 * an invalid URL too, and throws nothing: the caller must check the faults.
 */
function readDatabaseUrl(env: Environment, name: string, readFile: ReadTextFile): DatabaseUrlResult {
  const resolved = resolveSecretFile(env, name, readFile);
  const url = resolved.env[name] ?? null;
  const { faults } = resolved;
  return { url, faults: faults.length > 0 || url === null ? faults : findUrlFaults(name, url) };
}

/** Returns a fault if the text is not a PostgreSQL URL or the URL has an unknown sslmode. */
function findUrlFaults(name: string, url: string): SettingsFault[] {
  const parseable = /^postgres(ql)?:\/\/\S+$/.test(url) ? url.replace('@/', '@localhost/') : '';
  if (!URL.canParse(parseable)) {
    const problem = maskUrl(url) === null ? 'its text is not shown' : `got ${formatSettingValue(name, url)}`;
    return [{ name, expected: 'a URL such as postgres://user:password@host:5432/database', problem }];
  }
  const sslMode = new URL(parseable).searchParams.get('sslmode');
  if (sslMode === null || SSL_MODES.includes(sslMode)) return [];
  const problem = `sslmode is ${formatSettingValue('sslmode', sslMode)}`;
  return [{ name, expected: `an sslmode that is one of ${SSL_MODES.join(', ')}`, problem }];
}

/** Returns a fault if the size of the connection pool is not an integer in the allowed range. */
function findPoolFaults(pool: string | null): SettingsFault[] {
  if (pool === null) return [];
  const size = Number(pool);
  if (/^\d{1,3}$/.test(pool) && size >= MIN_CONNECTIONS && size <= MAX_CONNECTIONS) return [];
  const expected = `a whole number from ${MIN_CONNECTIONS} to ${MAX_CONNECTIONS}`;
  return [{ name: POOL_NAME, expected, problem: `got ${formatSettingValue(POOL_NAME, pool)}` }];
}
