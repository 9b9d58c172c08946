import type { Command } from 'commander';
import { LANDING_PATH } from '../../webhook/pages.js';
import { examples } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { findSettings } from '../place/find-place.js';
import { type Io, print, say } from '../io.js';
import { writeValue } from '../output/output.js';

interface InstallUrlOptions {
  readonly web?: string;
  readonly redirectUri?: string;
  readonly json?: boolean;
}

const LOOPBACK = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(\/|$)/;

export function define(program: Command, io: Io): void {
  const command = program
    .command('install-url')
    .description('Make the address with which an organization installs the app')
    .argument('<name-id>', "the app's name id, as the registry's dashboard has it")
    .option('--web <url>', "the registry's web pages (default: REGISTRY_BASE_URL where that is a sandbox)")
    .option('--redirect-uri <url>', "one of the app's callback URLs (default: the first that it has there)")
    .option('--json', 'print it as JSON')
    .action(async (nameId: string, options: InstallUrlOptions) => await installUrl(io, nameId, options));
  examples(command, [
    'carbon-mirror install-url carbon-mirror-demo',
    'carbon-mirror install-url my-app --web https://app.registry.example',
    'carbon-mirror install-url my-app --redirect-uri https://mirror.example.org/installed',
  ]);
}

async function installUrl(io: Io, nameId: string, options: InstallUrlOptions): Promise<void> {
  const { env } = findSettings(io);
  const web = readWeb(options.web, env['REGISTRY_BASE_URL']);
  if (!/^[\w-]{1,128}$/.test(nameId)) throw unusable('<name-id>', 'letters, digits, - and _', nameId);
  const url = new URL(`${web}/apps/${nameId}/installations/new`);
  if (options.redirectUri !== undefined)
    url.searchParams.set('redirectUri', readAddress('--redirect-uri', options.redirectUri));
  if (options.json === true) return writeValue(io, { url: url.href });
  await print(io, url.href);
  say(
    io,
    `Who has installed it is led to a callback URL of the app: https://<your host>${LANDING_PATH} says thank you.`,
  );
}

function readWeb(said: string | undefined, baseUrl: string | undefined): string {
  if (said !== undefined) return readAddress('--web', said).replace(/\/+$/, '');
  if (baseUrl !== undefined && LOOPBACK.test(baseUrl)) return baseUrl.replace(/\/+$/, '');
  throw new CommandFault(
    EXIT.usage,
    "Where the registry's web pages are is not known: they are elsewhere than REGISTRY_BASE_URL.",
    'Say it with --web, as in --web https://app.registry.example.',
  );
}

function readAddress(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isUsable = url !== null && (url.protocol === 'https:' || LOOPBACK.test(text));
  if (isUsable && url.username === '' && url.password === '') return text;
  throw unusable(name, 'an https address, or one of this machine', text);
}

function unusable(name: string, expected: string, text: string): CommandFault {
  return new CommandFault(EXIT.usage, `${name}: expected ${expected}, got "${text}".`);
}
