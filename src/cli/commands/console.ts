import { randomBytes } from 'node:crypto';
import { readSettings } from '../../app/config/read-settings.js';
import type { SettingsByRole } from '../../app/config/settings-table.js';
import type { ConsoleProxySettings } from '../console-proxy.js';
import type { ConsoleActions } from '../../console/actions/action-routes.js';
import type { RegistryComparer } from '../../console/registry-comparison.js';
import { describeSealOfVersion } from '../evidence/evidence-log.js';
import { measureFile as inspect } from '../certificate-files.js';
import { defineCommand } from '../define-command.js';
import {
  createSignInLink,
  readConsoleAddress,
  describeConsoleAccess,
  saveConsoleAddress,
} from '../console-address.js';
import { createNotFoundError } from '../command-error.js';
import type { Io } from '../io.js';
import type { MirrorContext } from '../context.js';
import { connectRegistry } from '../mirror-location.js';
import { createDemoActions } from './demo/demo-actions.js';
import { createKeyProvider, findSandbox } from './demo/demo-sandbox.js';
import { createRegistryComparer } from '../processes/registry-comparer.js';
import { readSavedQueries } from '../saved-queries.js';
import { runService, mayUseNextPort } from '../processes/service.js';
import { defineFlag, defineNegatedFlag } from '../options.js';
import { formatReceiverUrl } from '../post-webhook.js';
import { readPackageVersion } from '../../package.js';

const CONSOLE_URL = defineCommand({
  summary: 'Print a sign-in link for the running console',
  details: 'The link signs in one browser, once.',
  run: async ({ io, requireMirror, printLines }) => {
    const known = readConsoleAddress(requireMirror());
    if (known !== null) return await printLines(createSignInLink(known, io));
    throw createNotFoundError(
      `No console has been started for the mirror in ${requireMirror().folder}.`,
      'Start one with "carbon-mirror console".',
    );
  },
});

export const CONSOLE = defineCommand({
  summary: 'Start the web console on this machine',
  details: 'Runs until it is stopped. `console url` prints a sign-in link.',
  options: {
    address: defineNegatedFlag('do not print a sign-in link; "console url" prints one'),
    readOnly: defineFlag('hide the buttons that start work'),
  },
  examples: ['carbon-mirror console', 'carbon-mirror console url', 'open "$(carbon-mirror console url)"'],
  commands: { url: CONSOLE_URL },
  run: async ({ io, requireMirror, printNotice }, { address, readOnly }) => {
    const location = requireMirror();
    const { HOST, PORT } = location.env;
    const settings = await readSettings(location.env, 'console');
    const { startConsole } = await import('../../app/console.js');
    const { createConsoleProxy } = await import('../console-proxy.js');
    const secret = readConsoleAddress(location)?.secret ?? randomBytes(32).toString('hex');
    const secrets = [secret, settings.consoleProxySecret ?? secret];
    await runService(io, 'console', settings, secrets, async log => {
      const demo = await findDemoSandbox(location);
      const proxy = findProxySettings(settings);
      const setup = {
        openReader: location.engine.openReader,
        secret: Buffer.from(secret, 'hex'),
        port: settings.consolePort,
        mayUseNextPort: mayUseNextPort(io, 'CONSOLE_PORT'),
        host: settings.consoleHost,
        hostNames: settings.consoleNames,
        proxy: proxy === null ? null : createConsoleProxy(proxy, log, io.now),
        allowsOrders: settings.consoleActions,
        openInbox: readOnly ? null : () => location.engine.openInbox(io.now),
        /** The receiver as this machine reaches it; the registry uses another URL. */
        webhookUrl: formatReceiverUrl(HOST || '127.0.0.1', PORT || '8080'),
        version: readPackageVersion(),
        describeSeal: (version: number) => describeSealOfVersion(location, version),
        openPdfs: () => location.engine.openPdfs(io.now),
        inspectPdf: inspect,
        createDemoActions: readOnly || demo === null ? null : prepareDemoActions(io, demo),
        compare: findRegistryComparer(location, demo),
        sqlAccess: {
          runQuery: location.engine.runSqlQuery,
          describeSchema: location.engine.describeSchema,
          savedQueries: readSavedQueries(),
        },
      };
      const running = await startConsole(setup, { log, now: io.now });
      const known = { port: running.port ?? settings.consolePort, secret };
      saveConsoleAddress(location, known);
      if (address) printNotice(...(proxy === null ? describeConsoleAccess(known, io) : [BEHIND_PROXY]));
      return running;
    });
  },
});

const BEHIND_PROXY = 'The console runs. Visitors sign in through the proxy; open the address of the proxy.';

/** Returns the settings of the sign-in proxy, or null if none is set. */
function findProxySettings(settings: SettingsByRole['console']): ConsoleProxySettings | null {
  const { consoleProxyHeader: header, consoleProxyFrom: from, consoleProxySecret: secret } = settings;
  if (header === null || from === null || secret === null) return null;
  return { header, from, secret, actorsFile: settings.consoleActorsFile };
}

/** A sandbox registry, with settings to act as its app. */
type DemoRegistry = NonNullable<Awaited<ReturnType<typeof findDemoSandbox>>>;

/**
 * Returns the control API, app id and settings of the sandbox registry, or null if the mirror is connected to any other registry.
 */
async function findDemoSandbox({ env }: MirrorContext) {
  const { REGISTRY_BASE_URL: url, REGISTRY_APP_ID: appId } = env;
  const control = await findSandbox(url);
  if (control === null || !appId) return null;
  const getKey = createKeyProvider(control, appId);
  const settings = async () => ({
    ...env,
    REGISTRY_PRIVATE_KEY: await getKey(),
    REGISTRY_PRIVATE_KEY_FILE: '',
  });
  return { control, appId, settings };
}

/**
 * Returns a function that creates the actions behind the buttons of the demo page. The function takes the actions of the console, because
 * some demo buttons also request a sync with the console action `requestSyncs`.
 */
function prepareDemoActions(io: Io, { control, appId, settings }: DemoRegistry) {
  const connectWithOwnKey = async () => await connectRegistry({ env: await settings() }, io);
  return ({ requestSyncs: sync }: ConsoleActions) =>
    createDemoActions({ connect: connectWithOwnKey, control, appId, sync });
}

/** Returns a function that compares mirror and registry, or null if no private key is set. */
function findRegistryComparer({ env }: MirrorContext, demo: DemoRegistry | null): RegistryComparer | null {
  if (demo !== null) return createRegistryComparer(demo.settings);
  const { REGISTRY_PRIVATE_KEY: key, REGISTRY_PRIVATE_KEY_FILE: file } = env;
  return key || file ? createRegistryComparer(async () => env) : null;
}
