import { readSettings } from '../../app/config/config.js';
import type { Io } from '../io.js';
import { SETTINGS_TOOLS } from '../settings-tools.js';

/** The registry that settings name. One call of a person is worth waiting for, so no budget is set. */
export async function connect({ env }: Pick<Io, 'env'>, io: Io) {
  const settings = await readSettings(env, 'live', SETTINGS_TOOLS);
  const { createClient } = await import('../../client.js');
  return createClient({
    ...settings,
    now: io.now,
    random: Math.random,
    onClockCorrection: offsetMs =>
      io.stderr.write(
        `The registry's clock is ${Math.round(offsetMs / 1000)} s from this machine's; the registry's is used.\n`,
      ),
    onClockRefusal: skewMs =>
      io.stderr.write(
        `The registry's clock is ${Math.round(skewMs / 1000)} s from this machine's, too much to be believed: is this machine's clock right?\n`,
      ),
  });
}
