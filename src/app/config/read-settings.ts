/**
 * Reads settings from the environment. A role gets its own settings only, and an invalid environment is refused with
 * everything that is wrong at once. Errors never contain the text of a secret.
 */
import { readFileSync } from 'node:fs';
import { findProxyFaults } from './console-proxy-settings.js';
import { hasDatabaseUrl, readDatabaseSettings } from './database-settings.js';
import {
  type ResolvedSecret,
  type ReadTextFile,
  resolveSecretFile,
  createUnreadableFileFault,
} from './secret-file.js';
import { SettingsError, type SettingsFault } from './settings-error.js';
import type { Environment, Role, Setting } from './define-setting.js';
import { SETTINGS, type SettingsByRole } from './settings-table.js';
import type { StoreSettings } from '../../store/settings.js';
import { formatSettingValue } from './mask-setting.js';
import { findMisspeltNameFaults, findUnknownNameFaults } from './unknown-settings.js';

/** Returns the environment variables of this process. No other file uses `process.env`. */
export function getProcessEnvironment(): Environment {
  return process.env;
}

export function readTextFile(path: string): string {
  return readFileSync(path, 'utf8');
}

/**
 * Reads only the settings of the databases, for commands that need no others. Throws a `SettingsError` if one is invalid or
 * misspelt.
 */
export function readStoreSettings(env: Environment): StoreSettings {
  const { database, faults } = readDatabaseSettings(env, readTextFile);
  const allFaults = [...faults, ...findMisspeltNameFaults(env)];
  if (allFaults.length > 0) throw new SettingsError(allFaults);
  return { dataDir: env['DATA_DIR'] || 'data', diskReserveMb: readDiskReserve(env), database };
}

/** Reads DISK_RESERVE_MB. Returns null, which means the default, if the setting is missing or invalid. */
function readDiskReserve(env: Environment): number | null {
  const text = env['DISK_RESERVE_MB'] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Returns the setting REGISTRY_REQUESTS_PER_SECOND, or its default if missing or invalid. */
export async function readCallsPerSecond(env: Environment): Promise<number> {
  const name = 'REGISTRY_REQUESTS_PER_SECOND';
  const setting = SETTINGS.find(each => each.name === name);
  const defaultRate = Number(setting?.default);
  const parsed = await setting?.parse(env[name] || undefined);
  return parsed !== undefined && 'value' in parsed ? Number(parsed.value) : defaultRate;
}

/** Settings that name files with keys. Only the worker reads these files. */
const KEY_FILES = ['EVIDENCE_KEY_FILE', 'EVENTS_KEY_FILE'];

/**
 * Returns the environment for a child process that the command `carbon-mirror up` starts, without the secrets of other roles. If
 * OPERATIONS_PORT is set, each role that serves operations gets a port of its own.
 */
export function createChildEnvironment(
  env: Environment,
  role: 'receive' | 'work' | 'console' | 'api',
): Environment {
  const foreignSecrets = SETTINGS.filter(
    ({ name, property, roles, secret }) =>
      (secret || KEY_FILES.includes(name)) && property !== null && !roles.includes(role),
  );
  const ownEntries = Object.entries(env).filter(
    ([name]) => !foreignSecrets.some(secret => name === secret.name || name === `${secret.name}_FILE`),
  );
  const port = env['OPERATIONS_PORT'] ?? '';
  // Each child gets an operations port of its own.
  const offset = { receive: 0, work: 1, api: 2, console: 0 }[role];
  const isPortSet = /^[1-9]\d*$/.test(port);
  return {
    ...Object.fromEntries(ownEntries),
    ...(isPortSet && offset > 0 && { OPERATIONS_PORT: String(Number(port) + offset) }),
  };
}

/** Reads and checks the settings of a role. Throws a `SettingsError` that lists every invalid setting. */
export async function readSettings<R extends Role>(
  env: Environment,
  role: R,
  readFile: ReadTextFile = readTextFile,
): Promise<SettingsByRole[R]> {
  const secret = resolveRoleSecret(role, applyDefaults(env, role), readFile);
  const store = readDatabaseSettings(env, readFile);
  const parsed = await parseSettings(secret.env, role);
  const reportedNames = new Set(secret.faults.map(fault => removeFileSuffix(fault.name)));
  const faults = sortFaults([
    ...secret.faults,
    ...store.faults,
    ...(role === 'work' ? await findEvidenceKeyFaults(env['EVIDENCE_KEY_FILE'], readFile) : []),
    ...parsed.faults.filter(({ name }) => !reportedNames.has(removeFileSuffix(name))),
    ...findUnknownNameFaults(env),
    ...findDynoFaults(env, role),
    ...findProxyFaults(env, role),
  ]);
  const settings = { ...parsed.values, database: restrictQueryUrl(role, store.database) };
  if (faults.length > 0 || !hasAllSettings(role, settings)) throw new SettingsError(faults);
  return settings;
}

function removeFileSuffix(name: string): string {
  return name.replace(/_FILE$/, '');
}

/** Removes the database URL for visitors' SQL queries unless the role is `console`. */
function restrictQueryUrl(role: Role, database: StoreSettings['database']): StoreSettings['database'] {
  return role === 'console' || database === null ? database : { ...database, queryUrl: null };
}

/** Parses the settings of a role. Returns the parsed values, and a fault for each invalid setting. */
async function parseSettings(env: Environment, role: Role) {
  const values: Record<string, unknown> = {};
  const faults: SettingsFault[] = [];
  for (const setting of listSettingsOfRole(role)) {
    const result = await setting.parse(env[setting.name]);
    if ('value' in result) values[setting.property ?? setting.name] = result.value;
    else faults.push(createSettingFault(setting, result.expected, env));
  }
  return { values, faults };
}

function listSettingsOfRole(role: Role): Setting[] {
  return SETTINGS.filter(({ property, roles }) => property !== null && roles.includes(role));
}

function hasAllSettings<R extends Role>(role: R, settings: object): settings is SettingsByRole[R] {
  return listSettingsOfRole(role).every(({ property }) => property !== null && property in settings);
}

/** Checks the settings of all processes that the command `carbon-mirror up` starts. Throws one error that lists all faults. */
export async function checkUpSettings(env: Environment, readFile?: ReadTextFile): Promise<void> {
  const faults: SettingsFault[] = [];
  for (const role of ['receive', 'work', 'console', 'api'] as const)
    await readSettings(createChildEnvironment(env, role), role, readFile).catch((error: unknown) => {
      if (!(error instanceof SettingsError)) throw error;
      faults.push(...error.faults);
    });
  if (faults.length > 0) throw new SettingsError(sortFaults(faults));
}

/**
 * Returns a fault if the receiver or the worker would keep its database files on the disk of a Heroku dyno. A dyno loses its
 * disk daily.
 */
function findDynoFaults(env: Environment, role: Role): SettingsFault[] {
  if (!env['DYNO'] || hasDatabaseUrl(env) || (role !== 'receive' && role !== 'work')) return [];
  const expected =
    'a machine with a permanent disk that receive and work share, such as a virtual server, or MIRROR_DATABASE_URL';
  const problem =
    'a Heroku dyno has a disk of its own and loses it within a day, with the deliveries that were answered 202';
  return [{ name: 'DYNO', expected, problem }];
}

/** Returns only the known settings of the environment, with the role's default for each setting that is missing or empty. */
function applyDefaults(env: Environment, role: Role): Environment {
  const texts = SETTINGS.map(setting => [setting.name, env[setting.name] || setting.getDefault(role)]);
  return Object.fromEntries(texts);
}

/**
 * Reads the secret of a role from its file, if a setting names such a file. Returns the environment including the secret. If the
 * file cannot be used, also returns a fault.
 */
function resolveRoleSecret(role: Role, env: Environment, readFile: ReadTextFile): ResolvedSecret {
  const secret = listSettingsOfRole(role).find(setting => setting.secret);
  return secret === undefined ? { env, faults: [] } : resolveSecretFile(env, secret.name, readFile);
}

/** Returns a fault if the file with the signing key of the evidence log cannot be used. */
async function findEvidenceKeyFaults(
  file: string | undefined,
  readFile: ReadTextFile,
): Promise<SettingsFault[]> {
  if (!file) return [];
  // Each signature reads the key again, so without this check a fault would show up late.
  const { parseSigningKey } = await import('../../evidence/signing-key.js');
  try {
    parseSigningKey(readFile(file));
    return [];
  } catch (error) {
    const expected = 'a file that "carbon-mirror evidence init" made';
    return [{ ...createUnreadableFileFault('EVIDENCE_KEY_FILE', file, error), expected }];
  }
}

/** Creates the fault for a missing or invalid setting. */
function createSettingFault(setting: Setting, expected: string, env: Environment): SettingsFault {
  const fileName = `${setting.name}_FILE`;
  // If a file name is set, the value came from that file.
  const name = env[fileName] === undefined ? setting.name : fileName;
  const value = env[setting.name];
  if (value === undefined) return { name, expected, problem: 'it is not set' };
  const problem = setting.secret ? 'its text is not shown' : `got ${formatSettingValue(setting.name, value)}`;
  return { name, expected, problem };
}

/** Sorts faults in the order of `SETTINGS`. Keeps only the first fault of each setting. */
function sortFaults(faults: readonly SettingsFault[]): SettingsFault[] {
  const names = SETTINGS.map(({ name }) => name);
  const getPosition = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.length);
  const firstFaults = faults.filter(
    (fault, index) => faults.findIndex(other => other.name === fault.name) === index,
  );
  return firstFaults.toSorted((a, b) => getPosition(a.name) - getPosition(b.name));
}
