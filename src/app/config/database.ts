import { type ReadTextFile, resolveSecretFile } from './secret-file.js';
import type { SettingsFault } from './settings-error.js';
import type { DatabaseSettings } from '../../store/settings.js';
import { maskUrl, formatSettingValue } from './format-value.js';
import type { Environment } from './setting.js';

const URL_NAME = 'MIRROR_DATABASE_URL';
const QUERY_NAME = 'QUERY_DATABASE_URL';
const POOL_NAME = 'MIRROR_DATABASE_POOL';
/** A worker listens on one of them. */
const FEWEST_CONNECTIONS = 2;
const MOST_CONNECTIONS = 100;
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** Whether a PostgreSQL is named, be it rightly or not. */
export function hasDatabaseUrl(env: Environment): boolean {
  return names(env, URL_NAME);
}

function names(env: Environment, name: string): boolean {
  return Boolean(env[name] || env[`${name}_FILE`]);
}

/** The texts of it that nobody may see. */
export function listDatabaseSecrets(database: DatabaseSettings | null): string[] {
  return [database?.url ?? null, database?.queryUrl ?? null].flatMap(url => {
    if (url === null) return [];
    const { password } = new URL(url.replace('@/', '@localhost/'));
    return [url, password, decodeURIComponent(password)];
  });
}

export interface DatabaseSettingsResult {
  /** Null where none is named. */
  readonly database: DatabaseSettings | null;
  readonly faults: readonly SettingsFault[];
}

/** The PostgreSQL that is named instead of files. What others call DATABASE_URL is somebody's own, and is not looked at. */
export function readDatabaseSettings(env: Environment, readFile: ReadTextFile): DatabaseSettingsResult {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  if (!hasDatabaseUrl(env)) return { database: null, faults: names(env, QUERY_NAME) ? [ALONE] : [] };
  const { url, faults } = readUrl(set, URL_NAME, readFile);
  const query = readUrl(set, QUERY_NAME, readFile);
  const pool = set[POOL_NAME] ?? null;
  const all = [...faults, ...query.faults, ...poolFaults(pool)];
  if (all.length > 0 || url === null) return { database: null, faults: all };
  return { database: { url, queryUrl: query.url, pool: pool === null ? null : Number(pool) }, faults: [] };
}

const ALONE = { name: QUERY_NAME, expected: `${URL_NAME} beside it`, problem: 'that is not set' };

function readUrl(env: Environment, name: string, readFile: ReadTextFile) {
  const { given, faults } = resolveSecretFile(env, name, readFile);
  const url = given[name] ?? null;
  return { url, faults: faults.length > 0 || url === null ? faults : urlFaults(name, url) };
}

function urlFaults(name: string, url: string): SettingsFault[] {
  const came = maskUrl(url) === null ? 'its text is not shown' : `came ${formatSettingValue(name, url)}`;
  const like = /^postgres(ql)?:\/\/\S+$/.test(url) ? url.replace('@/', '@localhost/') : '';
  if (!URL.canParse(like)) {
    return [{ name, expected: 'a URL such as postgres://user:password@host:5432/database', problem: came }];
  }
  const mode = new URL(like).searchParams.get('sslmode');
  if (mode === null || SSL_MODES.includes(mode)) return [];
  const said = `sslmode is ${formatSettingValue('sslmode', mode)}`;
  return [{ name, expected: `an sslmode that is one of ${SSL_MODES.join(', ')}`, problem: said }];
}

function poolFaults(pool: string | null): SettingsFault[] {
  const number = Number(pool);
  if (pool === null || (/^\d{1,3}$/.test(pool) && number >= FEWEST_CONNECTIONS && number <= MOST_CONNECTIONS))
    return [];
  const expected = `a whole number from ${FEWEST_CONNECTIONS} to ${MOST_CONNECTIONS}`;
  return [{ name: POOL_NAME, expected, problem: `came ${formatSettingValue(POOL_NAME, pool)}` }];
}
