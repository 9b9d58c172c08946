import { computeEditDistance, isSimilar } from '../../text/edit-distance.js';
import type { SettingsFault } from './settings-error.js';
import type { Environment } from './setting.js';
import { SETTINGS } from './settings.js';
import { formatSettingName } from './format-value.js';

const KNOWN = SETTINGS.map(({ name }) => name);
/** Nobody else has settings of these names, so that every unknown one is a mistake. */
const OWN = /^(REGISTRY|WEBHOOK|MIRROR|QUERY_DATABASE)_/;

/** Faults of names that no setting has: misspelt ones, and any other that begins as only ours do. */
export function findUnknownNameFaults(env: Environment): SettingsFault[] {
  return Object.keys(env)
    .filter(name => env[name] && !KNOWN.includes(name) && (OWN.test(name) || isMisspelt(name)))
    .map(faultOf);
}

/** Faults of names that are almost those of a setting. */
export function findMisspeltNameFaults(env: Environment): SettingsFault[] {
  return Object.keys(env)
    .filter(name => env[name] && isMisspelt(name))
    .map(faultOf);
}

/**
 * The environment without misspelt names, and a warning of each: it holds the settings of other programs too. What is
 * misspelt after this comes from a file of settings, or begins as only our settings do, and is a fault.
 */
export function removeMisspeltNames(env: Environment) {
  const misspelt = Object.keys(env).filter(name => env[name] && !OWN.test(name) && isMisspelt(name));
  return {
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !misspelt.includes(name))),
    warnings: misspelt.map(name => `${name} is no setting. Perhaps ${findNearest(name)} is meant.`),
  };
}

function isMisspelt(name: string): boolean {
  return !KNOWN.includes(name) && KNOWN.some(known => isSimilar(withoutFile(name), withoutFile(known)));
}

/** Whether a text or a file is given is forgotten as easily as a letter. */
function withoutFile(name: string): string {
  return name.toUpperCase().replace(/_FILE$/, '');
}

function findNearest(name: string): string {
  const far = (known: string) => computeEditDistance(name.toUpperCase(), known);
  return KNOWN.toSorted((a, b) => far(a) - far(b))[0] ?? '';
}

function faultOf(name: string): SettingsFault {
  return {
    name: isMisspelt(name) ? name : formatSettingName(name),
    expected: `a known name, perhaps ${findNearest(name)}`,
    problem: 'there is no such setting',
  };
}
