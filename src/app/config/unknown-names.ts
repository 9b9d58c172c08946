import { computeEditDistance, isSimilar } from '../../text/edit-distance.js';
import type { SettingsFault } from './settings-error.js';
import type { Environment } from './setting.js';
import { SETTINGS } from './settings.js';
import { formatSettingName } from './format-value.js';

const KNOWN_NAMES = SETTINGS.map(({ name }) => name);
/** No other program has settings with these prefixes, so an unknown name with one of them is a mistake. */
const OWN_PREFIX = /^(REGISTRY|WEBHOOK|MIRROR|QUERY_DATABASE)_/;

/** Finds names that are no setting: misspelt ones, and all others with a prefix that only our settings have. */
export function findUnknownNameFaults(env: Environment): SettingsFault[] {
  return Object.keys(env)
    .filter(
      name => env[name] && !KNOWN_NAMES.includes(name) && (OWN_PREFIX.test(name) || isMisspeltName(name)),
    )
    .map(createUnknownNameFault);
}

/** Finds names that are similar to the name of a setting. */
export function findMisspeltNameFaults(env: Environment): SettingsFault[] {
  return Object.keys(env)
    .filter(name => env[name] && isMisspeltName(name))
    .map(createUnknownNameFault);
}

/**
 * Removes misspelt names from the environment and returns a warning for each. They are no faults, because the environment also
 * holds settings of other programs. Misspelt names with our prefixes stay, and so are reported as faults later.
 */
export function removeMisspeltNames(env: Environment) {
  const misspelt = Object.keys(env).filter(
    name => env[name] && !OWN_PREFIX.test(name) && isMisspeltName(name),
  );
  return {
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !misspelt.includes(name))),
    warnings: misspelt.map(name => `${name} is no setting. Did you mean ${findNearestName(name)}?`),
  };
}

function isMisspeltName(name: string): boolean {
  return (
    !KNOWN_NAMES.includes(name) &&
    KNOWN_NAMES.some(known => isSimilar(removeFileSuffix(name), removeFileSuffix(known)))
  );
}

/** Removes the suffix _FILE, which is forgotten as easily as a letter. */
function removeFileSuffix(name: string): string {
  return name.toUpperCase().replace(/_FILE$/, '');
}

/** Returns the name of a setting that is most similar. */
function findNearestName(name: string): string {
  const distance = (known: string) => computeEditDistance(name.toUpperCase(), known);
  return KNOWN_NAMES.toSorted((a, b) => distance(a) - distance(b))[0] ?? '';
}

function createUnknownNameFault(name: string): SettingsFault {
  return {
    name: isMisspeltName(name) ? name : formatSettingName(name),
    expected: `a known name, perhaps ${findNearestName(name)}`,
    problem: 'there is no such setting',
  };
}
