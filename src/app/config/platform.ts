import { namesDatabase } from './database.js';
import type { SettingsFault } from './fault.js';
import type { Environment } from './row.js';

/** What a platform calls its machines by, and what the folder of the databases must be there. */
const VOLUMES = [
  {
    name: 'FLY_APP_NAME',
    advice:
      'On Fly a deploy replaces the disk: DATA_DIR must be on a volume, and a volume belongs to one machine. ' +
      'Run receive and work on that machine ("carbon-mirror up"), and do not scale beyond it.',
  },
  {
    name: 'RENDER',
    advice:
      'On Render a deploy replaces the disk: DATA_DIR must be on a persistent disk, and a disk belongs to one service. ' +
      'Run receive and work in that service ("carbon-mirror up"), not as a web service and a background worker.',
  },
] as const;

/** A dyno's disk is shared with no other and gone within a day: what was answered 202 would be lost. */
export function dynoFaults(env: Environment): SettingsFault[] {
  if (!env['DYNO']) return [];
  const expected = 'a machine where receive and work share a disk that stays, such as a virtual server';
  const came =
    'a dyno shares its disk with no other and loses it within a day, and with it what was answered 202';
  return [{ name: 'DYNO', expected, came }];
}

/** What to see to where the disk does not stay by itself; null elsewhere. */
export function volumeAdvice(env: Environment): string | null {
  if (namesDatabase(env)) return null;
  return VOLUMES.find(({ name }) => env[name])?.advice ?? null;
}

/** Without what leads to the advice: whoever starts the children has given it. */
export function withoutAdvice(env: Environment): Environment {
  const names: readonly string[] = VOLUMES.map(({ name }) => name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}
