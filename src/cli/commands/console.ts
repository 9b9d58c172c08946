import { randomBytes } from 'node:crypto';
import { readSettings } from '../../app/config/config.js';
import type { Actions } from '../../console/actions/actions.js';
import type { DemoAction } from '../../console/demo/demo.js';
import { connect } from '../connect/registry.js';
import { command } from '../command.js';
import { addressOf, findConsole, invitation, keepConsole } from '../console-address.js';
import { notThereFault } from '../exit.js';
import type { Io } from '../io.js';
import type { MirrorLocation } from '../connect/mirror-location.js';
import { createDemoActions } from './demo/actions.js';
import { createOwnKey, findSandbox } from './demo/sandbox.js';
import { readQuestions } from '../ready-questions.js';
import { createServiceLog, runService, takesNextPort } from '../processes/service.js';
import { flag, unless } from '../taken.js';
import { readVersion } from '../version.js';

const printUrl = command({
  says: 'Print an address that opens the console once',
  run: async ({ io, location, print }) => {
    const known = findConsole(location());
    if (known !== null) return await print(addressOf(known, io));
    throw notThereFault(
      `No console has been started over the mirror in ${location().folder}.`,
      'Start one: carbon-mirror console.',
    );
  },
});

export const CONSOLE = command({
  says: 'Serve the pages of the mirror to a browser on this machine, until it is stopped',
  options: {
    address: unless('print no address; "console url" prints one'),
    readOnly: flag('show no buttons that start work'),
  },
  examples: ['carbon-mirror console', 'carbon-mirror console url', 'open "$(carbon-mirror console url)"'],
  commands: { url: printUrl },
  run: async ({ io, location: findMirror, say }, { address, readOnly }) => {
    const location = findMirror();
    const settings = await readSettings(location.env, 'console');
    const { startConsole } = await import('../../app/console.js');
    const { measure: inspect } = await import('./certificates/files.js');
    const secret = findConsole(location)?.secret ?? randomBytes(32).toString('hex');
    const log = await createServiceLog(io, 'console', settings, [secret]);
    await runService(io, 'console', async () => {
      const setup = {
        openReader: location.engine.openPages,
        sharesReader: location.engine.sharesPages,
        secret: Buffer.from(secret, 'hex'),
        port: settings.consolePort,
        orNextPort: takesNextPort(io, 'CONSOLE_PORT'),
        names: settings.consoleNames,
        openInbox: readOnly ? null : () => location.engine.openInbox(io.now),
        webhookUrl: webhookUrlOf(location.env),
        version: readVersion(),
        openPdfs: () => location.engine.openPagePdfs(io.now),
        inspect,
        demoActionsBy: readOnly ? null : await demoActionsOf(io, location),
        asking: {
          ask: location.engine.ask,
          describeSchema: location.engine.describeSchema,
          ready: readQuestions(),
        },
      };
      const running = await startConsole(setup, { log, now: io.now });
      const known = { port: running.port ?? settings.consolePort, secret };
      keepConsole(location, known);
      if (address) say(...invitation(known, io));
      return running;
    });
  },
});

/** What the page Demo offers, where the registry is a sandbox. */
async function demoActionsOf(
  io: Io,
  { env }: MirrorLocation,
): Promise<((actions: Actions) => readonly DemoAction[]) | null> {
  const { REGISTRY_BASE_URL: url, REGISTRY_APP_ID: appId } = env;
  const control = await findSandbox(url);
  if (control === null || !appId) return null;
  const key = createOwnKey(control, appId);
  const asApp = async () => ({ ...env, REGISTRY_PRIVATE_KEY: await key(), REGISTRY_PRIVATE_KEY_FILE: '' });
  return ({ sync }) =>
    createDemoActions({ connect: async () => connect({ env: await asApp() }, io), control, appId, sync });
}

/** Where the receiver is on this machine; from outside it has another name. */
function webhookUrlOf({ HOST, PORT }: Io['env']): string {
  return `http://${HOST || '127.0.0.1'}:${PORT || '8080'}/webhooks`;
}
