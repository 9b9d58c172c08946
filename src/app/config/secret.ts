import type { SettingsFault } from './fault.js';
import { shownValue } from './shown.js';
import type { Environment } from './row.js';

export type ReadFile = (path: string) => string;

export interface Given {
  readonly given: Environment;
  readonly faults: readonly SettingsFault[];
}

/** A secret that is given as it is, or in the file that NAME_FILE names. */
export function takeSecret(env: Environment, name: string, readFile: ReadFile): Given {
  const path = env[`${name}_FILE`];
  if (path === undefined) return { given: env, faults: [] };
  if (env[name] !== undefined) {
    const expected = `only one of ${name} and ${name}_FILE`;
    return { given: env, faults: [{ name, expected, came: 'both are set' }] };
  }
  try {
    const text = readFile(path)
      .replace(/^\uFEFF/, '')
      .trimEnd();
    return { given: { ...env, [name]: text }, faults: [] };
  } catch (error) {
    return { given: env, faults: [unreadable(`${name}_FILE`, path, error)] };
  }
}

export function unreadable(name: string, path: string, error: unknown): SettingsFault {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return {
    name,
    expected: 'a file that can be read',
    came: `${shownValue(name, path)} cannot be read${code}`,
  };
}
