import { checkUpSettings, readSettings } from '../../app/config/read-settings.js';
import { formatSettingName } from '../../app/config/mask-setting.js';
import { defineCommand } from '../define-command.js';
import { readConsoleAddress, describeConsoleAccess } from '../console-address.js';
import { findRegistrySettings, mayUseDemo } from '../mirror-location.js';
import { SettingsError } from '../../app/config/settings-error.js';
import { createUsageError } from '../command-error.js';
import { defineFlag } from '../options.js';
import { findExposures, findExposedEnvFiles } from '../exposures.js';
import type { Io } from '../io.js';
import type { Log } from '../../app/log.js';
import { hasValidToken, runService, mayUseNextPort } from '../processes/service.js';

export const UP = defineCommand({
  summary: 'Start receiver, worker, console and HTTP API together',
  details: 'The HTTP API starts only if a token exists; see "tokens create".',
  options: {
    demo: defineFlag('start a demo with a made-up registry (the default in a terminal without settings)'),
  },
  examples: ['carbon-mirror up --demo', 'carbon-mirror up --env-file .env'],
  run: async ({ io, findMirror, printNotice }, { demo }) => {
    const interrupted = io.createInterruptSignal();
    if (demo) assertNoRegistrySettings(io);
    if (demo || (mayUseDemo(io) && io.terminal.stdin && io.terminal.stdout)) {
      const { runDemo } = await import('./demo/demo.js');
      return await runDemo(io, interrupted);
    }
    const { runServiceProcesses } = await import('../processes/service-processes.js');
    await checkUpSettings(io.env).catch((error: unknown) => {
      const isUnconfigured = error instanceof SettingsError && findRegistrySettings(io.env).length === 0;
      throw isUnconfigured ? createUsageError(error.message.split('\n'), DEMO_ADVICE) : error;
    });
    await findMirror().engine.migrate(io.now());
    for (const { found, todo } of findExposedEnvFiles(io.secretFiles))
      printNotice(`Warning: ${found}. ${todo}`);
    return await runServiceProcesses({
      io,
      env: io.env,
      interrupted,
      needsApi: () => hasValidToken(findMirror().engine, io.now),
      onReady: async ({ consolePort, apiPort }) => {
        if (apiPort !== null) printNotice(`The HTTP API listens on port ${apiPort}.`);
        const address = consolePort === null ? null : readConsoleAddress(findMirror());
        if (address !== null) printNotice(...describeConsoleAccess(address, io));
      },
    });
  },
});

const DEMO_ADVICE = 'For a demo with a made-up registry: "carbon-mirror up --demo".';

/** Throws a usage error if the settings name a registry, because `--demo` starts its own. */
function assertNoRegistrySettings({ env }: Io): void {
  const names = findRegistrySettings(env);
  if (names.length === 0) return;
  // The demo only works with its own sandbox.
  throw createUsageError(
    `--demo starts its own registry, but these settings name another one: ${names.map(formatSettingName).join(', ')}.`,
    'Remove --demo, or those settings.',
  );
}

export const RECEIVE = defineCommand({
  summary: 'Start the webhook receiver',
  details: 'Stores the webhooks that arrive at HOST:PORT. Runs until it is stopped.',
  examples: ['carbon-mirror receive', 'PORT=3000 HOST=0.0.0.0 carbon-mirror receive'],
  run: async ({ io }) => {
    const settings = await readSettings(io.env, 'receive');
    const { startReceiver } = await import('../../app/receive.js');
    await runService(io, 'receive', settings, settings.webhookSecrets, log => {
      logExposures(io, log);
      return startReceiver({ ...settings, mayUseNextPort: mayUseNextPort(io, 'PORT') }, { log, now: io.now });
    });
  },
});

export const WORK = defineCommand({
  summary: 'Start the worker that reads the registry',
  details:
    'Reads what webhooks announce, and everything on the schedule SYNC_SCHEDULE. Runs until it is stopped.',
  examples: ['carbon-mirror work', "SYNC_SCHEDULE='0 * * * *' carbon-mirror work"],
  run: async ({ io }) => {
    const settings = await readSettings(io.env, 'work');
    const { startWorker } = await import('../../app/work.js');
    await runService(io, 'work', settings, [settings.privateKey], log => {
      logExposures(io, log);
      return startWorker(settings, { log, now: io.now });
    });
  },
});

/** Logs a warning for each file, folder or port that other users or machines can access. */
function logExposures(io: Io, log: Log): void {
  for (const { found, todo } of findExposures(io)) log.warn({ todo }, found);
}
