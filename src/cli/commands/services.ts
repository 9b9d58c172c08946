import { checkUpSettings, readSettings } from '../../app/config/config.js';
import { shownName } from '../../app/config/shown.js';
import { command } from '../command.js';
import { findConsole, invitation } from '../console-address.js';
import { findRegistrySettings, meansDemo } from '../mirror-location.js';
import { SettingsError } from '../../app/config/fault.js';
import { usageFault } from '../exit.js';
import { flag } from '../options.js';
import { findExposures, findOpenSettings } from '../faults/exposures.js';
import type { Io } from '../io.js';
import type { Log } from '../../app/log.js';
import { runService, takesNextPort } from '../processes/service.js';

export const UP = command({
  says: 'Start receive, work and console together',
  options: {
    demo: flag('start a demo with a made-up registry; in a terminal this is the default without settings'),
  },
  examples: ['carbon-mirror up --demo', 'carbon-mirror up --env-file .env'],
  run: async ({ io, settings, say }, { demo }) => {
    const interrupted = io.interruption();
    if (demo) demandNoRegistry(io);
    if (demo || (meansDemo(io) && io.terminal.stdin && io.terminal.stdout)) {
      const { runDemo } = await import('./demo/demo.js');
      return await runDemo(io, interrupted);
    }
    const { runChildren } = await import('../processes/children.js');
    await checkUpSettings(io.env).catch((error: unknown) => {
      const isUnconfigured = error instanceof SettingsError && findRegistrySettings(io.env).length === 0;
      throw isUnconfigured ? usageFault(error.message.split('\n'), FOR_A_DEMO) : error;
    });
    await settings().engine.migrate(io.now());
    for (const { found, todo } of findOpenSettings(io.secretFiles)) say(`Warning: ${found}. ${todo}`);
    return await runChildren(io, io.env, interrupted, async ({ consolePort }) => {
      const known = consolePort === null ? null : findConsole(settings());
      if (known !== null) say(...invitation(known, io));
    });
  },
});

const FOR_A_DEMO = 'For a demo with a made-up registry: "carbon-mirror up --demo".';

/** A demo has a registry of its own: the settings of another one would lead its mirror there. */
function demandNoRegistry({ env }: Io): void {
  const names = findRegistrySettings(env);
  if (names.length === 0) return;
  throw usageFault(
    `--demo starts a registry of its own, but the settings name another one: ${names.map(shownName).join(', ')}.`,
    'Leave out --demo, or those settings.',
  );
}

export const RECEIVE = command({
  says: 'Take webhooks at HOST:PORT and store them; runs until it is stopped',
  examples: ['carbon-mirror receive', 'PORT=3000 HOST=0.0.0.0 carbon-mirror receive'],
  run: async ({ io }) => {
    const settings = await readSettings(io.env, 'receive');
    const { startReceive } = await import('../../app/receive.js');
    await runService(io, 'receive', settings, settings.webhookSecrets, log => {
      tellExposures(io, log);
      return startReceive({ ...settings, orNextPort: takesNextPort(io, 'PORT') }, { log, now: io.now });
    });
  },
});

export const WORK = command({
  says: 'Read the registry as deliveries and the schedule ask for it; runs until it is stopped',
  examples: ['carbon-mirror work', "SYNC_SCHEDULE='0 * * * *' carbon-mirror work"],
  run: async ({ io }) => {
    const settings = await readSettings(io.env, 'work');
    const { startWork } = await import('../../app/work.js');
    await runService(io, 'work', settings, [settings.privateKey], log => {
      tellExposures(io, log);
      return startWork(settings, { log, now: io.now });
    });
  },
});

function tellExposures(io: Io, log: Log): void {
  for (const { found, todo } of findExposures(io)) log.warn({ todo }, found);
}
