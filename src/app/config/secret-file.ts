import type { SettingsFault } from './settings-error.js';
import { formatSettingValue } from './mask-setting.js';
import type { Environment } from './define-setting.js';

export type ReadTextFile = (path: string) => string;

/** An environment in which a secret stands under its own name, or why it could not be read. */
export interface ResolvedSecret {
  readonly env: Environment;
  readonly faults: readonly SettingsFault[];
}

/**
 * Returns the environment. If `<name>_FILE` is set, reads that file and sets `name` to its text. Also returns a fault if the file
 * cannot be read, or if `name` and `<name>_FILE` are both set.
 */
export function resolveSecretFile(env: Environment, name: string, readFile: ReadTextFile): ResolvedSecret {
  const path = env[`${name}_FILE`];
  if (path === undefined) return { env, faults: [] };
  if (env[name] !== undefined) {
    const expected = `only one of ${name} and ${name}_FILE`;
    return { env, faults: [{ name, expected, problem: 'both are set' }] };
  }
  try {
    const text = readFile(path)
      .replace(/^\uFEFF/, '')
      .trimEnd();
    return { env: { ...env, [name]: text }, faults: [] };
  } catch (error) {
    return { env, faults: [createUnreadableFileFault(`${name}_FILE`, path, error)] };
  }
}

/** Creates the fault for a setting that names a file which cannot be read. */
export function createUnreadableFileFault(name: string, path: string, error: unknown): SettingsFault {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return {
    name,
    expected: 'a file that can be read',
    problem: `${formatSettingValue(name, path)} cannot be read${code}`,
  };
}
