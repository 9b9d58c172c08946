import type { SettingsFault } from './settings-error.js';
import { formatSettingValue } from './format-value.js';
import type { Environment } from './setting.js';

export type ReadTextFile = (path: string) => string;

export interface ResolvedSecret {
  readonly given: Environment;
  readonly faults: readonly SettingsFault[];
}

/** A secret that is given as it is, or in the file that NAME_FILE names. */
export function resolveSecretFile(env: Environment, name: string, readFile: ReadTextFile): ResolvedSecret {
  const path = env[`${name}_FILE`];
  if (path === undefined) return { given: env, faults: [] };
  if (env[name] !== undefined) {
    const expected = `only one of ${name} and ${name}_FILE`;
    return { given: env, faults: [{ name, expected, problem: 'both are set' }] };
  }
  try {
    const text = readFile(path)
      .replace(/^\uFEFF/, '')
      .trimEnd();
    return { given: { ...env, [name]: text }, faults: [] };
  } catch (error) {
    return { given: env, faults: [createUnreadableFileFault(`${name}_FILE`, path, error)] };
  }
}

export function createUnreadableFileFault(name: string, path: string, error: unknown): SettingsFault {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return {
    name,
    expected: 'a file that can be read',
    problem: `${formatSettingValue(name, path)} cannot be read${code}`,
  };
}
