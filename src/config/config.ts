import { readFileSync } from 'node:fs';
import { distance } from './distance.js';
import { dynoFaults, withoutAdvice } from './platform.js';
import {
  type Role,
  type Setting,
  SETTINGS,
  type SettingsByRole,
  SettingsError,
  type SettingsFault,
} from './settings.js';
import { shownName, shownValue } from './shown.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface SettingsTools {
  readonly readFile: (path: string) => string;
  /** Throws where the text is no usable private key; its message must not hold the text. */
  readonly checkPrivateKey?: (pem: string) => void;
}

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

/** The reserve of the disk in MiB, without the cost of the checked settings; null where the disk decides. What is no number, no process starts with. */
export function readDiskReserve(env: Environment): number | null {
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
  const { given, faults } = takeSecret(withDefaults(env, role), SECRET_OF[role], tools);
  const result = CHECKS[role].safeParse(given);
  const spoken = new Set(faults.map(fault => fault.name.replace(/_FILE$/, '')));
  const unfit = (result.error?.issues ?? [])
    .map(({ path, message }) => faultAt(String(path[0]), message, given))
    .filter(({ name }) => !spoken.has(name));
  const all = inOrder([...faults, ...unfit, ...unknownNames(env), ...placeFaults(env, role)]);
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
  return role === 'receive' || role === 'work' ? dynoFaults(env) : [];
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

interface Given {
  readonly given: Environment;
  readonly faults: readonly SettingsFault[];
}

function takeSecret(env: Environment, name: string | null, tools: SettingsTools): Given {
  const path = name === null ? undefined : env[`${name}_FILE`];
  if (name === null) return { given: env, faults: [] };
  if (path !== undefined && env[name] !== undefined) {
    const expected = `only one of ${name} and ${name}_FILE`;
    return { given: env, faults: [{ name, expected, came: 'both are set' }] };
  }
  try {
    const text =
      path === undefined
        ? env[name]
        : tools
            .readFile(path)
            .replace(/^\uFEFF/, '')
            .trimEnd();
    const given = { ...env, [name]: text };
    const source = path === undefined ? name : `${name}_FILE`;
    return { given, faults: name === 'REGISTRY_PRIVATE_KEY' ? keyFaults(source, text, tools) : [] };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    const came = `${shownValue(path)} cannot be read${code}`;
    return { given: env, faults: [{ name: `${name}_FILE`, expected: 'a file that can be read', came }] };
  }
}

function keyFaults(name: string, pem: string | undefined, tools: SettingsTools): SettingsFault[] {
  if (pem === undefined) return [];
  try {
    tools.checkPrivateKey?.(pem);
    return [];
  } catch (error) {
    const came = error instanceof Error ? error.message : 'it cannot be read';
    return [{ name, expected: "the app's private key, fit to sign with", came }];
  }
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
    .filter(name => /^(REGISTRY|WEBHOOK)_/.test(name) && env[name] && !known.includes(name))
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
