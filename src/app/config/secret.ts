import type { SettingsFault } from './fault.js';
import { shownValue } from './shown.js';
import type { Environment } from './row.js';

export interface SettingsTools {
  readonly readFile: (path: string) => string;
  /** Throws where the text is no usable private key; its message must not hold the text. */
  readonly checkPrivateKey?: (pem: string) => void;
}

export interface Given {
  readonly given: Environment;
  readonly faults: readonly SettingsFault[];
}

/** A secret that is given as it is, or in the file that NAME_FILE names. */
export function takeSecret(env: Environment, name: string, tools: SettingsTools): Given {
  const path = env[`${name}_FILE`];
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
