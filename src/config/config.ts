import { readFileSync } from 'node:fs';
import { distance } from './distance.js';
import { namesDatabase, readDatabase } from './database.js';
import { dynoFaults, withoutAdvice } from './platform.js';
import { type Given, type SettingsTools, takeSecret } from './secret.js';
import {
  type Role,
  type Setting,
  SETTINGS,
  type SettingsByRole,
  SettingsError,
  type SettingsFault,
  type StoreSettings,
} from './settings.js';
import { shownName, shownValue } from './shown.js';

export type Environment = Readonly<Record<string, string | undefined>>;

const OPERATIONS_PORTS = { receive: '8081', work: '8082', live: '0', sandbox: '0', console: '0' } as const;
const SECRET_OF = {
  receive: 'WEBHOOK_SECRETS',
  work: 'REGISTRY_PRIVATE_KEY',
  live: 'REGISTRY_PRIVATE_KEY',
  sandbox: null,
  console: null,
} as const;

/** The environment of this process. No other file reads it. */
export function environment(): Environment {
  return process.env;
}

export function readSecretFile(path: string): string {
  return readFileSync(path, 'utf8');
}

/** Where things are kept: all that a quick command needs, without the cost of the checked settings. */
export function readStore(env: Environment): StoreSettings {
  const { database, faults } = readDatabase(env, { readFile: readSecretFile });
  if (faults.length > 0) throw new SettingsError(faults);
  return { dataDir: env['DATA_DIR'] || 'data', diskReserveMb: readDiskReserve(env), database };
}

/** The reserve of the disk in MiB, without the cost of the checked settings; null where the disk decides. What is no number, no process starts with. */
function readDiskReserve(env: Environment): number | null {
  const text = env['DISK_RESERVE_MB'] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** What a child of `up` is given: never the other one's secret, and no port twice. */
export function childEnvironment(env: Environment, role: 'receive' | 'work'): Environment {
  const foreign = SECRET_OF[role === 'receive' ? 'work' : 'receive'];
  const kept = Object.entries(withoutAdvice(env)).filter(
    ([name]) => name !== foreign && name !== `${foreign}_FILE`,
  );
  const port = env['OPERATIONS_PORT'] ?? '';
  const next =
    role === 'work' && /^[1-9]\d*$/.test(port) ? { OPERATIONS_PORT: String(Number(port) + 1) } : {};
  return { ...Object.fromEntries(kept), ...next };
}

/** Checks what a role needs and refuses with every fault at once. Only `tools` touches the outside. */
export async function readSettings<R extends Role>(
  env: Environment,
  role: R,
  tools: SettingsTools = { readFile: readSecretFile },
): Promise<SettingsByRole[R]> {
  const { CHECKS } = await import('./checks.js');
  const { given, faults } = takeSecretOf(role, withDefaults(env, role), tools);
  const store = readDatabase(env, tools);
  const result = CHECKS[role].safeParse({ ...given, DATABASE: store.database });
  const spoken = new Set(faults.map(fault => fault.name.replace(/_FILE$/, '')));
  const unfit = (result.error?.issues ?? [])
    .map(({ path, message }) => faultAt(String(path[0]), message, given))
    .filter(({ name }) => !spoken.has(name));
  const all = inOrder([
    ...faults,
    ...store.faults,
    ...unfit,
    ...unknownNames(env),
    ...placeFaults(env, role),
  ]);
  if (all.length > 0 || !result.success) throw new SettingsError(all);
  return result.data;
}

/** `up` checks what both of its children will be given before it starts either. */
export async function readUpSettings(env: Environment, tools?: SettingsTools) {
  const [receive, work] = await Promise.allSettled([
    readSettings(childEnvironment(env, 'receive'), 'receive', tools),
    readSettings(childEnvironment(env, 'work'), 'work', tools),
  ]);
  if (receive.status === 'fulfilled' && work.status === 'fulfilled') {
    return { receive: receive.value, work: work.value };
  }
  throw joinErrors([receive, work].flatMap(each => (each.status === 'rejected' ? [each.reason] : [])));
}

/** Where the databases cannot stand, nothing that writes them is started. */
function placeFaults(env: Environment, role: Role): SettingsFault[] {
  return (role === 'receive' || role === 'work') && !namesDatabase(env) ? dynoFaults(env) : [];
}

/** An empty value is one that is not set. */
function withDefaults(env: Environment, role: Role): Environment {
  const values = SETTINGS.map(setting => [setting.name, env[setting.name] || fallbackOf(setting, role)]);
  return Object.fromEntries(values);
}

function fallbackOf({ name, default: standard }: Setting, role: Role): string | undefined {
  if (name === 'OPERATIONS_PORT') return OPERATIONS_PORTS[role];
  if (name === 'DISK_RESERVE_MB') return undefined;
  return standard ?? undefined;
}

function takeSecretOf(role: Role, env: Environment, tools: SettingsTools): Given {
  const name = SECRET_OF[role];
  return name === null ? { given: env, faults: [] } : takeSecret(env, name, tools);
}

function faultAt(name: string, expected: string, given: Environment): SettingsFault {
  const value = given[name];
  if (value === undefined) return { name, expected, came: 'it is not set' };
  const secret = SETTINGS.some(setting => setting.name === name && setting.secret);
  return { name, expected, came: secret ? 'its text is not shown' : `came ${shownValue(value)}` };
}

/** A name that nobody reads is most likely a known one, mistyped. */
function unknownNames(env: Environment): SettingsFault[] {
  const known = SETTINGS.map(each => each.name);
  return Object.keys(env)
    .filter(name => /^(REGISTRY|WEBHOOK|MIRROR)_/.test(name) && env[name] && !known.includes(name))
    .map(name => {
      const [nearest = ''] = known.toSorted((a, b) => distance(name, a) - distance(name, b));
      return {
        name: shownName(name),
        expected: `a known name, perhaps ${nearest}`,
        came: 'there is no such setting',
      };
    });
}

function joinErrors(reasons: readonly unknown[]): unknown {
  const foreign = reasons.find(reason => !(reason instanceof SettingsError));
  if (foreign !== undefined) return foreign;
  return new SettingsError(
    inOrder(reasons.flatMap(reason => (reason instanceof SettingsError ? reason.faults : []))),
  );
}

/** In the order of the table, each setting once. */
function inOrder(faults: readonly SettingsFault[]): SettingsFault[] {
  const names = SETTINGS.map(each => each.name);
  const place = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.length);
  const first = faults.filter((fault, i) => faults.findIndex(other => other.name === fault.name) === i);
  return first.toSorted((a, b) => place(a.name) - place(b.name));
}
