import { readSettings } from '../../app/config/config.js';
import type { Io } from '../io.js';
import { SETTINGS_TOOLS } from '../settings-tools.js';

/** The registry that settings name. One call of a person is worth waiting for, so no budget is set. */
export async function connect({ env }: Pick<Io, 'env'>, io: Pick<Io, 'now'>) {
  const settings = await readSettings(env, 'live', SETTINGS_TOOLS);
  const { createClient } = await import('../../client.js');
  return createClient({ ...settings, now: io.now, random: Math.random });
}
