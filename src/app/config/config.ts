/**
 * Reads settings from the environment. A role gets its own settings only, and an invalid environment is refused with
 * everything that is wrong at once. Errors never contain the text of a secret.
 */
import { readFileSync } from 'node:fs';
import { hasDatabaseUrl, readDatabaseSettings } from './database.js';
import {
  type ResolvedSecret,
  type ReadTextFile,
  resolveSecretFile,
  createUnreadableFileFault,
} from './secret-file.js';
import { SettingsError, type SettingsFault } from './settings-error.js';
import type { Environment, Role, Setting } from './setting.js';
import { SETTINGS, type SettingsByRole } from './settings.js';
import type { StoreSettings } from '../../store/settings.js';
import { formatSettingValue } from './format-value.js';
import { findMisspeltNameFaults, findUnknownNameFaults } from './unknown-names.js';

/** Returns the environment of this process. No other file reads it. */
export function getProcessEnvironment(): Environment {
  return process.env;
}

export function readTextFile(path: string): string {
  return readFileSync(path, 'utf8');
}

/** Reads only where the databases are. Quick commands need no more, and so skip the cost of checking all settings. */
export function readStoreSettings(env: Environment): StoreSettings {
  const { database, faults } = readDatabaseSettings(env, readTextFile);
  const allFaults = [...faults, ...findMisspeltNameFaults(env)];
  if (allFaults.length > 0) throw new SettingsError(allFaults);
  return { dataDir: env['DATA_DIR'] || 'data', diskReserveMb: readDiskReserve(env), database };
}

/** Reads the disk reserve in MiB; null for the default. Invalid texts also give null, because no process starts with them. */
function readDiskReserve(env: Environment): number | null {
  const text = env['DISK_RESERVE_MB'] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/**
 * Returns the environment for a child of `up`: without the secrets of other roles, and with the next operations port for the
 * worker, so that no two children use the same port.
 */
export function createChildEnvironment(env: Environment, role: 'receive' | 'work' | 'console'): Environment {
  const foreignSecrets = SETTINGS.filter(
    ({ name, property, roles, secret }) =>
      (secret || name === 'EVIDENCE_KEY_FILE') && property !== null && !roles.includes(role),
  );
  const ownEntries = Object.entries(env).filter(
    ([name]) => !foreignSecrets.some(secret => name === secret.name || name === `${secret.name}_FILE`),
  );
  const port = env['OPERATIONS_PORT'] ?? '';
  const isNextPort = role === 'work' && /^[1-9]\d*$/.test(port);
  return {
    ...Object.fromEntries(ownEntries),
    ...(isNextPort && { OPERATIONS_PORT: String(Number(port) + 1) }),
  };
}

/** Reads and checks the settings of a role. Throws a `SettingsError` with all faults. Only `readFile` has side effects. */
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
  ]);
  const settings = { ...parsed.values, database: restrictQueryUrl(role, store.database) };
  if (faults.length > 0 || !hasAllSettings(role, settings)) throw new SettingsError(faults);
  return settings;
}

function removeFileSuffix(name: string): string {
  return name.replace(/_FILE$/, '');
}

/** Removes the URL for people's SQL from the settings of all roles except the console, which alone runs such SQL. */
function restrictQueryUrl(role: Role, database: StoreSettings['database']): StoreSettings['database'] {
  return role === 'console' || database === null ? database : { ...database, queryUrl: null };
}

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

/** Checks the settings that `up` passes to each of its children. Throws a `SettingsError` with the faults of all roles. */
export async function checkUpSettings(env: Environment, readFile?: ReadTextFile): Promise<void> {
  const faults: SettingsFault[] = [];
  for (const role of ['receive', 'work', 'console'] as const)
    await readSettings(createChildEnvironment(env, role), role, readFile).catch((error: unknown) => {
      if (!(error instanceof SettingsError)) throw error;
      faults.push(...error.faults);
    });
  if (faults.length > 0) throw new SettingsError(sortFaults(faults));
}

/** Refuses to write database files on a Heroku dyno, which shares its disk with no other dyno and loses it within a day. */
function findDynoFaults(env: Environment, role: Role): SettingsFault[] {
  if (!env['DYNO'] || hasDatabaseUrl(env) || (role !== 'receive' && role !== 'work')) return [];
  const expected = 'a machine where receive and work share a disk that stays, such as a virtual server';
  const problem =
    'a dyno shares its disk with no other and loses it within a day, and with it what was answered 202';
  return [{ name: 'DYNO', expected, problem }];
}

/** Returns the text of each setting for a role, or its default if it is not set or empty. */
function applyDefaults(env: Environment, role: Role): Environment {
  const texts = SETTINGS.map(setting => [setting.name, env[setting.name] || setting.getDefault(role)]);
  return Object.fromEntries(texts);
}

function resolveRoleSecret(role: Role, env: Environment, readFile: ReadTextFile): ResolvedSecret {
  const secret = listSettingsOfRole(role).find(setting => setting.secret);
  return secret === undefined ? { env, faults: [] } : resolveSecretFile(env, secret.name, readFile);
}

/** Checks the signing key at the start. It is read again for each signature, so a fault would otherwise show up late. */
async function findEvidenceKeyFaults(
  file: string | undefined,
  readFile: ReadTextFile,
): Promise<SettingsFault[]> {
  if (!file) return [];
  const { readKey } = await import('../../evidence/note.js');
  try {
    readKey(readFile(file));
    return [];
  } catch (error) {
    const expected = 'a file that "carbon-mirror evidence init" made';
    return [{ ...createUnreadableFileFault('EVIDENCE_KEY_FILE', file, error), expected }];
  }
}

function createSettingFault(setting: Setting, expected: string, env: Environment): SettingsFault {
  const fileName = `${setting.name}_FILE`;
  const name = env[fileName] === undefined ? setting.name : fileName;
  const value = env[setting.name];
  if (value === undefined) return { name, expected, problem: 'it is not set' };
  const problem = setting.secret ? 'its text is not shown' : `got ${formatSettingValue(setting.name, value)}`;
  return { name, expected, problem };
}

/** Sorts faults in the order of the table of settings, and keeps the first fault of each setting. */
function sortFaults(faults: readonly SettingsFault[]): SettingsFault[] {
  const names = SETTINGS.map(({ name }) => name);
  const getPosition = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.length);
  const firstFaults = faults.filter(
    (fault, index) => faults.findIndex(other => other.name === fault.name) === index,
  );
  return firstFaults.toSorted((a, b) => getPosition(a.name) - getPosition(b.name));
}
