import { checkUpSettings, readSettings } from '../../app/config/config.js';
import { formatSettingName } from '../../app/config/format-value.js';
import { defineCommand } from '../command.js';
import { findConsole, invitation } from '../console-address.js';
import { findRegistrySettings, meansDemo } from '../mirror-location.js';
import { SettingsError } from '../../app/config/settings-error.js';
import { usageFault } from '../exit.js';
import { flag } from '../options.js';
import { findExposures, findOpenSettings } from '../faults/exposures.js';
import type { Io } from '../io.js';
import type { Log } from '../../app/log.js';
import { runService, takesNextPort } from '../processes/service.js';

export const UP = defineCommand({
  summary: 'Start receiver, worker and console together',
  options: {
    demo: flag('start a demo with a made-up registry (the default in a terminal without settings)'),
  },
  examples: ['carbon-mirror up --demo', 'carbon-mirror up --env-file .env'],
  run: async ({ io, settings, printNotice }, { demo }) => {
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
    for (const { found, todo } of findOpenSettings(io.secretFiles)) printNotice(`Warning: ${found}. ${todo}`);
    return await runChildren(io, io.env, interrupted, async ({ consolePort }) => {
      const known = consolePort === null ? null : findConsole(settings());
      if (known !== null) printNotice(...invitation(known, io));
    });
  },
});

const FOR_A_DEMO = 'For a demo with a made-up registry: "carbon-mirror up --demo".';

/** A demo has a registry of its own: the settings of another one would lead its mirror there. */
function demandNoRegistry({ env }: Io): void {
  const names = findRegistrySettings(env);
  if (names.length === 0) return;
  throw usageFault(
    `--demo starts its own registry, but these settings name another one: ${names.map(formatSettingName).join(', ')}.`,
    'Remove --demo, or those settings.',
  );
}

export const RECEIVE = defineCommand({
  summary: 'Start the webhook receiver',
  details: 'Stores the webhooks that arrive at HOST:PORT, until it is stopped.',
  examples: ['carbon-mirror receive', 'PORT=3000 HOST=0.0.0.0 carbon-mirror receive'],
  run: async ({ io }) => {
    const settings = await readSettings(io.env, 'receive');
    const { startReceiver } = await import('../../app/receive.js');
    await runService(io, 'receive', settings, settings.webhookSecrets, log => {
      tellExposures(io, log);
      return startReceiver({ ...settings, mayUseNextPort: takesNextPort(io, 'PORT') }, { log, now: io.now });
    });
  },
});

export const WORK = defineCommand({
  summary: 'Start the worker that reads the registry',
  details: 'Reads what deliveries announce and what the schedule is due for, until it is stopped.',
  examples: ['carbon-mirror work', "SYNC_SCHEDULE='0 * * * *' carbon-mirror work"],
  run: async ({ io }) => {
    const settings = await readSettings(io.env, 'work');
    const { startWorker } = await import('../../app/work.js');
    await runService(io, 'work', settings, [settings.privateKey], log => {
      tellExposures(io, log);
      return startWorker(settings, { log, now: io.now });
    });
  },
});

function tellExposures(io: Io, log: Log): void {
  for (const { found, todo } of findExposures(io)) log.warn({ todo }, found);
}
