import { computeEditDistance, isSimilar } from '../../text/spelling.js';
import type { SettingsFault } from './settings-error.js';
import type { Environment } from './define-setting.js';
import { SETTINGS } from './settings-table.js';
import { formatSettingName } from './mask-setting.js';

const KNOWN_NAMES = SETTINGS.map(({ name }) => name);
/** No other program has settings with these prefixes, so an unknown name with one of them is a mistake. */
const OWN_PREFIX = /^(REGISTRY|WEBHOOK|MIRROR|QUERY_DATABASE)_/;

/** Returns a fault for each environment variable that is probably a misspelt or unknown setting. */
export function findUnknownNameFaults(env: Environment): SettingsFault[] {
  return Object.keys(env)
    .filter(
      name => env[name] && !KNOWN_NAMES.includes(name) && (OWN_PREFIX.test(name) || isMisspeltName(name)),
    )
    .map(createUnknownNameFault);
}

/** Returns a fault for each environment variable whose name is similar to the name of a setting. */
export function findMisspeltNameFaults(env: Environment): SettingsFault[] {
  return Object.keys(env)
    .filter(name => env[name] && isMisspeltName(name))
    .map(createUnknownNameFault);
}

/**
 * Returns a copy of the environment without the variables whose names look like misspelt settings, and a warning for each removed
 * variable. Does not remove names with a prefix of our own settings, such as MIRROR_: those are reported as errors later.
 */
export function removeMisspeltNames(env: Environment) {
  const misspelt = Object.keys(env).filter(
    name => env[name] && !OWN_PREFIX.test(name) && isMisspeltName(name),
  );
  return {
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !misspelt.includes(name))),
    warnings: misspelt.map(name => `${name} is not a setting. Did you mean ${findNearestName(name)}?`),
  };
}

/** Returns whether a name is not a setting but similar to the name of a setting. */
function isMisspeltName(name: string): boolean {
  return (
    !KNOWN_NAMES.includes(name) &&
    KNOWN_NAMES.some(known => isSimilar(removeFileSuffix(name), removeFileSuffix(known)))
  );
}

/** Returns a name in upper case, without the suffix _FILE. */
function removeFileSuffix(name: string): string {
  return name.toUpperCase().replace(/_FILE$/, '');
}

/** Returns the known setting name that is most similar to a misspelt one. */
function findNearestName(name: string): string {
  const distance = (known: string) => computeEditDistance(name.toUpperCase(), known);
  return KNOWN_NAMES.toSorted((a, b) => distance(a) - distance(b))[0] ?? '';
}

/** Creates the fault for an environment variable that is not a setting. Suggests the most similar setting name. */
function createUnknownNameFault(name: string): SettingsFault {
  return {
    name: isMisspeltName(name) ? name : formatSettingName(name),
    expected: `a known name, perhaps ${findNearestName(name)}`,
    problem: 'there is no such setting',
  };
}
