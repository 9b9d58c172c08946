import { LANDING_PATH } from '../../webhook/pages.js';
import { command } from '../command.js';
import { CommandFault, usageFault } from '../exit.js';
import { needed, text } from '../taken.js';

const LOOPBACK = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(\/|$)/;

export const INSTALL_URL = command({
  says: 'Make the address with which an organization installs the app',
  words: { nameId: needed(text('name-id', "the app's name id, as the registry's dashboard has it")) },
  options: {
    web: text('url', "the registry's web pages (default: REGISTRY_BASE_URL where that is a sandbox)"),
    redirectUri: text('url', "one of the app's callback URLs (default: the first one registered)"),
  },
  prints: { json: 'print it as JSON' },
  examples: [
    'carbon-mirror install-url carbon-mirror-demo',
    'carbon-mirror install-url my-app --web https://app.registry.example',
    'carbon-mirror install-url my-app --redirect-uri https://mirror.example.org/installed',
  ],
  run: async ({ format, settings, value, print, say }, { nameId, web, redirectUri }) => {
    const pages = readWeb(web, settings().env['REGISTRY_BASE_URL']);
    if (!/^[\w-]{1,128}$/.test(nameId)) throw unusable('<name-id>', 'letters, digits, - and _', nameId);
    const url = new URL(`${pages}/apps/${nameId}/installations/new`);
    if (redirectUri !== undefined)
      url.searchParams.set('redirectUri', readAddress('--redirect-uri', redirectUri));
    if (format === 'json') return await value({ url: url.href });
    await print(url.href);
    say(
      `After the installation the registry sends the person to a callback URL of the app, such as https://<your host>${LANDING_PATH}.`,
    );
    return undefined;
  },
});

function readWeb(given: string | undefined, baseUrl: string | undefined): string {
  if (given !== undefined) return readAddress('--web', given).replace(/\/+$/, '');
  if (baseUrl !== undefined && LOOPBACK.test(baseUrl)) return baseUrl.replace(/\/+$/, '');
  throw usageFault(
    "The address of the registry's web pages is missing: REGISTRY_BASE_URL has none.",
    'Name it with --web, as in --web https://app.registry.example.',
  );
}

function readAddress(name: string, given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  const isUsable = url !== null && (url.protocol === 'https:' || LOOPBACK.test(given));
  if (isUsable && url.username === '' && url.password === '') return given;
  throw unusable(name, 'an https address, or one of this machine', given);
}

function unusable(name: string, expected: string, given: string): CommandFault {
  return usageFault(`${name}: expected ${expected}, got "${given}".`);
}
