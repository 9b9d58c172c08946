import { LANDING_PATH } from '../../webhook/pages.js';
import { command } from '../command.js';
import { usageFault } from '../exit.js';
import { needed, text } from '../options.js';
import { isOnThisMachine } from '../this-machine.js';

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
    const base = settings().env['REGISTRY_BASE_URL'] ?? '';
    const pages = web ?? (isOnThisMachine(base) ? base : '');
    if (!/^[\w-]{1,128}$/.test(nameId))
      throw usageFault(`<name-id>: expected letters, digits, - and _, got "${nameId}".`);
    if (!isUsable(pages))
      throw usageFault(
        `--web: expected the registry's web pages, at https or on this machine, got "${pages}".`,
        'Name them, as in --web https://app.registry.example.',
      );
    await print(`${pages.replace(/\/+$/, '')}/apps/${nameId}/installations/new`);
    say(
      `After the installation the registry sends the person to a callback URL of the app, such as https://<your host>${LANDING_PATH}.`,
    );
  },
});

function isUsable(pages: string): boolean {
  const url = URL.canParse(pages) ? new URL(pages) : null;
  const isSafe = url?.protocol === 'https:' || isOnThisMachine(pages);
  return isSafe && url?.username === '' && url.password === '';
}
