import { LANDING_PATH } from '../../webhook/pages.js';
import { defineCommand } from '../command.js';
import { usageFault } from '../exit.js';
import { required, text } from '../options.js';
import { isOnThisMachine } from '../this-machine.js';

export const INSTALL_URL = defineCommand({
  summary: 'Print the URL where organizations install the app',
  args: { nameId: required(text('name-id', "the app's name id from the registry's dashboard")) },
  options: {
    web: text('url', "URL of the registry's website (default: REGISTRY_BASE_URL if that is a sandbox)"),
  },
  examples: [
    'carbon-mirror install-url carbon-mirror-demo',
    'carbon-mirror install-url my-app --web https://app.registry.example',
  ],
  run: async ({ settings, printLines, printNotice }, { nameId, web }) => {
    const base = settings().env['REGISTRY_BASE_URL'] ?? '';
    const pages = web ?? (isOnThisMachine(base) ? base : '');
    if (!/^[\w-]{1,128}$/.test(nameId))
      throw usageFault(`<name-id>: expected letters, digits, - and _, got "${nameId}".`);
    if (!isUsable(pages))
      throw usageFault(
        `--web: expected the URL of the registry's website, with https or on this machine, got "${pages}".`,
        'For example: --web https://app.registry.example.',
      );
    await printLines(`${pages.replace(/\/+$/, '')}/apps/${nameId}/installations/new`);
    printNotice(
      `After installing, the registry redirects the user to the app's callback URL, such as https://<your host>${LANDING_PATH}.`,
    );
  },
});

function isUsable(pages: string): boolean {
  const url = URL.canParse(pages) ? new URL(pages) : null;
  const isSafe = url?.protocol === 'https:' || isOnThisMachine(pages);
  return isSafe && url?.username === '' && url.password === '';
}
