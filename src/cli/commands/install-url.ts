import { LANDING_PATH } from '../../webhook/pages.js';
import { command } from '../command.js';
import { CommandFault, usageFault } from '../exit.js';
import { needed, text } from '../options.js';

const LOOPBACK = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(\/|$)/;

export const INSTALL_URL = command({
  says: 'Make the address with which an organization installs the app',
  words: { nameId: needed(text('name-id', "the app's name id, as the registry's dashboard has it")) },
  options: {
    web: text('url', "the registry's web pages (default: REGISTRY_BASE_URL where that is a sandbox)"),
  },
  examples: [
    'carbon-mirror install-url carbon-mirror-demo',
    'carbon-mirror install-url my-app --web https://app.registry.example',
  ],
  run: async ({ settings, print, say }, { nameId, web }) => {
    const pages = readWeb(web, settings().env['REGISTRY_BASE_URL']);
    if (!/^[\w-]{1,128}$/.test(nameId)) throw unusable('<name-id>', 'letters, digits, - and _', nameId);
    await print(`${pages}/apps/${nameId}/installations/new`);
    say(
      `After the installation the registry sends the person to a callback URL of the app, such as https://<your host>${LANDING_PATH}.`,
    );
  },
});

function readWeb(given: string | undefined, baseUrl: string | undefined): string {
  if (given === undefined && (baseUrl === undefined || !LOOPBACK.test(baseUrl)))
    throw usageFault(
      "The address of the registry's web pages is missing: REGISTRY_BASE_URL has none.",
      'Name it with --web, as in --web https://app.registry.example.',
    );
  const pages = given ?? baseUrl ?? '';
  const url = URL.canParse(pages) ? new URL(pages) : null;
  const isUsable = url !== null && (url.protocol === 'https:' || LOOPBACK.test(pages));
  if (isUsable && url.username === '' && url.password === '') return pages.replace(/\/+$/, '');
  throw unusable('--web', 'an https address, or one of this machine', pages);
}

function unusable(name: string, expected: string, given: string): CommandFault {
  return usageFault(`${name}: expected ${expected}, got "${given}".`);
}
