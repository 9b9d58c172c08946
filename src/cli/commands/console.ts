import { randomBytes } from 'node:crypto';
import { readSettings } from '../../app/config/config.js';
import type { ConsoleActions } from '../../console/actions/actions.js';
import type { Compare } from '../../console/comparison.js';
import { readSeal } from '../sealed.js';
import { measure as inspect } from '../certificate-files.js';
import { defineCommand } from '../command.js';
import { createSignInLink, findConsole, invitation, keepConsole } from '../console-address.js';
import { notThereFault } from '../exit.js';
import type { Io } from '../io.js';
import type { MirrorLocation } from '../context.js';
import { connect } from '../mirror-location.js';
import { createDemoActions } from './demo/actions.js';
import { createOwnKey, findSandbox } from './demo/sandbox.js';
import { compareBy } from '../processes/verify-child.js';
import { readQuestions } from '../ready-questions.js';
import { runService, takesNextPort } from '../processes/service.js';
import { flag, negatedFlag } from '../options.js';
import { receiverUrl } from '../this-machine.js';
import { readPackageVersion } from '../../package.js';

const printUrl = defineCommand({
  summary: 'Print a sign-in link for the running console',
  details: 'The link signs in one browser, once.',
  run: async ({ io, location, printLines }) => {
    const known = findConsole(location());
    if (known !== null) return await printLines(createSignInLink(known, io));
    throw notThereFault(
      `No console has been started for the mirror in ${location().folder}.`,
      'Start one with "carbon-mirror console".',
    );
  },
});

export const CONSOLE = defineCommand({
  summary: 'Start the web console on this machine',
  details: 'Runs until it is stopped. `console url` prints a sign-in link.',
  options: {
    address: negatedFlag('do not print a sign-in link; "console url" prints one'),
    readOnly: flag('hide the buttons that start work'),
  },
  examples: ['carbon-mirror console', 'carbon-mirror console url', 'open "$(carbon-mirror console url)"'],
  commands: { url: printUrl },
  run: async ({ io, location: findMirror, printNotice }, { address, readOnly }) => {
    const location = findMirror();
    const { HOST, PORT } = location.env;
    const settings = await readSettings(location.env, 'console');
    const { startConsole } = await import('../../app/console.js');
    const secret = findConsole(location)?.secret ?? randomBytes(32).toString('hex');
    await runService(io, 'console', settings, [secret], async log => {
      const demo = await findDemo(location);
      const setup = {
        openReader: location.engine.openReader,
        secret: Buffer.from(secret, 'hex'),
        port: settings.consolePort,
        mayUseNextPort: takesNextPort(io, 'CONSOLE_PORT'),
        hostNames: settings.consoleNames,
        openInbox: readOnly ? null : () => location.engine.openInbox(io.now),
        /** From outside it has another name. */
        webhookUrl: receiverUrl(HOST || '127.0.0.1', PORT || '8080'),
        version: readPackageVersion(),
        findSealedIn: (version: number) => readSeal(location, version),
        openPdfs: () => location.engine.openPdfs(io.now),
        inspectPdf: inspect,
        createDemoActions: readOnly || demo === null ? null : actionsBy(io, demo),
        compare: compareOf(location, demo),
        sqlAccess: {
          ask: location.engine.ask,
          describeSchema: location.engine.describeSchema,
          ready: readQuestions(),
        },
      };
      const running = await startConsole(setup, { log, now: io.now });
      const known = { port: running.port ?? settings.consolePort, secret };
      keepConsole(location, known);
      if (address) printNotice(...invitation(known, io));
      return running;
    });
  },
});

type Registry = NonNullable<Awaited<ReturnType<typeof findDemo>>>;

/** Where the registry is a sandbox, what of it is this console's own. */
async function findDemo({ env }: MirrorLocation) {
  const { REGISTRY_BASE_URL: url, REGISTRY_APP_ID: appId } = env;
  const control = await findSandbox(url);
  if (control === null || !appId) return null;
  const key = createOwnKey(control, appId);
  const settings = async () => ({ ...env, REGISTRY_PRIVATE_KEY: await key(), REGISTRY_PRIVATE_KEY_FILE: '' });
  return { control, appId, settings };
}

/** What the page Demo offers. */
function actionsBy(io: Io, { control, appId, settings }: Registry) {
  const reach = async () => await connect({ env: await settings() }, io);
  return ({ sync }: ConsoleActions) => createDemoActions({ connect: reach, control, appId, sync });
}

/** A console that was given no key of a registry cannot ask there. */
function compareOf({ env }: MirrorLocation, demo: Registry | null): Compare | null {
  if (demo !== null) return compareBy(demo.settings);
  const { REGISTRY_PRIVATE_KEY: key, REGISTRY_PRIVATE_KEY_FILE: file } = env;
  return key || file ? compareBy(async () => env) : null;
}
