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

/** The environment of this process. No other file reads it. */
export function getProcessEnvironment(): Environment {
  return process.env;
}

export function readTextFile(path: string): string {
  return readFileSync(path, 'utf8');
}

/** Where things are kept: all that a quick command needs, without the cost of the checked settings. */
export function readStoreSettings(env: Environment): StoreSettings {
  const { database, faults } = readDatabaseSettings(env, readTextFile);
  const all = [...faults, ...findMisspeltNameFaults(env)];
  if (all.length > 0) throw new SettingsError(all);
  return { dataDir: env['DATA_DIR'] || 'data', diskReserveMb: readDiskReserve(env), database };
}

/** The reserve of the disk in MiB, without the cost of the checked settings; null where the disk decides. What is no number, no process starts with. */
function readDiskReserve(env: Environment): number | null {
  const text = env['DISK_RESERVE_MB'] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** What a child of `up` is given: never the secret of another one, and no port twice. */
export function createChildEnvironment(env: Environment, role: 'receive' | 'work' | 'console'): Environment {
  const foreign = SETTINGS.filter(
    each =>
      (each.secret || each.name === 'EVIDENCE_KEY_FILE') &&
      each.property !== null &&
      !each.roles.includes(role),
  );
  const kept = Object.entries(env).filter(
    ([name]) => !foreign.some(secret => name === secret.name || name === `${secret.name}_FILE`),
  );
  const port = env['OPERATIONS_PORT'] ?? '';
  const next =
    role === 'work' && /^[1-9]\d*$/.test(port) ? { OPERATIONS_PORT: String(Number(port) + 1) } : {};
  return { ...Object.fromEntries(kept), ...next };
}

/** Checks what a role needs and refuses with every fault at once. Only `readFile` touches the outside. */
export async function readSettings<R extends Role>(
  env: Environment,
  role: R,
  readFile: ReadTextFile = readTextFile,
): Promise<SettingsByRole[R]> {
  const { given, faults } = takeSecretOf(role, withDefaults(env, role), readFile);
  const store = readDatabaseSettings(env, readFile);
  const { read, unfit } = await readRows(given, role);
  const spoken = new Set(faults.map(fault => fault.name.replace(/_FILE$/, '')));
  const all = inOrder([
    ...faults,
    ...store.faults,
    ...(role === 'work' ? await keyFaults(env['EVIDENCE_KEY_FILE'], readFile) : []),
    ...unfit.filter(({ name }) => !spoken.has(name.replace(/_FILE$/, ''))),
    ...findUnknownNameFaults(env),
    ...placeFaults(env, role),
  ]);
  const settings = { ...read, database: ofRole(role, store.database) };
  if (all.length > 0 || !isReadBy(role, settings)) throw new SettingsError(all);
  return settings;
}

/** Only pages ask for people. */
function ofRole(role: Role, database: StoreSettings['database']): StoreSettings['database'] {
  return role === 'console' || database === null ? database : { ...database, queryUrl: null };
}

async function readRows(given: Environment, role: Role) {
  const read: Record<string, unknown> = {};
  const unfit: SettingsFault[] = [];
  for (const row of rowsOf(role)) {
    const reading = await row.read(given[row.name]);
    if ('value' in reading) read[row.property ?? row.name] = reading.value;
    else unfit.push(faultAt(row, reading.expected, given));
  }
  return { read, unfit };
}

function rowsOf(role: Role): Setting[] {
  return SETTINGS.filter(({ property, roles }) => property !== null && roles.includes(role));
}

function isReadBy<R extends Role>(role: R, read: object): read is SettingsByRole[R] {
  return rowsOf(role).every(({ property }) => property !== null && property in read);
}

/** `up` checks what all of its children will be given before it starts any. */
export async function checkUpSettings(env: Environment, readFile?: ReadTextFile): Promise<void> {
  const faults: SettingsFault[] = [];
  for (const role of ['receive', 'work', 'console'] as const)
    await readSettings(createChildEnvironment(env, role), role, readFile).catch((error: unknown) => {
      if (!(error instanceof SettingsError)) throw error;
      faults.push(...error.faults);
    });
  if (faults.length > 0) throw new SettingsError(inOrder(faults));
}

/** A dyno's disk is shared with no other and gone within a day: nothing that writes the databases is started there. */
function placeFaults(env: Environment, role: Role): SettingsFault[] {
  if (!env['DYNO'] || hasDatabaseUrl(env) || (role !== 'receive' && role !== 'work')) return [];
  const expected = 'a machine where receive and work share a disk that stays, such as a virtual server';
  const came =
    'a dyno shares its disk with no other and loses it within a day, and with it what was answered 202';
  return [{ name: 'DYNO', expected, problem: came }];
}

/** An empty value is one that is not set. */
function withDefaults(env: Environment, role: Role): Environment {
  const values = SETTINGS.map(setting => [setting.name, env[setting.name] || setting.of(role)]);
  return Object.fromEntries(values);
}

function takeSecretOf(role: Role, env: Environment, readFile: ReadTextFile): ResolvedSecret {
  const own = rowsOf(role).find(({ secret }) => secret);
  return own === undefined ? { given: env, faults: [] } : resolveSecretFile(env, own.name, readFile);
}

/** It is read anew whenever it signs: whoever starts is told before anything else is done. */
async function keyFaults(file: string | undefined, readFile: ReadTextFile): Promise<SettingsFault[]> {
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

function faultAt({ name: of, secret }: Setting, expected: string, given: Environment): SettingsFault {
  const name = given[`${of}_FILE`] === undefined ? of : `${of}_FILE`;
  const value = given[of];
  if (value === undefined) return { name, expected, problem: 'it is not set' };
  return {
    name,
    expected,
    problem: secret ? 'its text is not shown' : `came ${formatSettingValue(of, value)}`,
  };
}

/** In the order of the table, each setting once. */
function inOrder(faults: readonly SettingsFault[]): SettingsFault[] {
  const names = SETTINGS.map(each => each.name);
  const place = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.length);
  const first = faults.filter((fault, i) => faults.findIndex(other => other.name === fault.name) === i);
  return first.toSorted((a, b) => place(a.name) - place(b.name));
}
