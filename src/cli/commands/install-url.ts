import { LANDING_PATH } from '../../webhook/visitor-pages.js';
import { defineCommand } from '../define-command.js';
import { createUsageError } from '../command-error.js';
import { makeRequired, defineText } from '../options.js';
import { isLoopbackUrl } from '../../text/loopback.js';

export const INSTALL_URL = defineCommand({
  summary: 'Print the URL where organizations install the app',
  args: { nameId: makeRequired(defineText('name-id', "the app's name id from the registry's dashboard")) },
  options: {
    web: defineText('url', "URL of the registry's website (default: REGISTRY_BASE_URL if that is a sandbox)"),
  },
  examples: [
    'carbon-mirror install-url carbon-mirror-demo',
    'carbon-mirror install-url my-app --web https://app.registry.example',
  ],
  run: async ({ findMirror, printLines, printNotice }, { nameId, web }) => {
    const apiUrl = findMirror().env['REGISTRY_BASE_URL'] ?? '';
    const website = web ?? (isLoopbackUrl(apiUrl) ? apiUrl : '');
    if (!/^[\w-]{1,128}$/.test(nameId))
      throw createUsageError(`<name-id>: expected letters, digits, - and _, got "${nameId}".`);
    if (!isSafeWebsite(website))
      throw createUsageError(
        `--web: expected the URL of the registry's website, with https or on this machine, got "${website}".`,
        'For example: --web https://app.registry.example.',
      );
    await printLines(`${website.replace(/\/+$/, '')}/apps/${nameId}/installations/new`);
    printNotice(
      `After installing, the registry redirects the user to the app's callback URL, such as https://<your host>${LANDING_PATH}.`,
    );
  },
});

/** Whether a URL has no user name or password, and uses HTTPS or points to this machine. */
function isSafeWebsite(website: string): boolean {
  const url = URL.canParse(website) ? new URL(website) : null;
  const isPrivate = url?.protocol === 'https:' || isLoopbackUrl(website);
  return isPrivate && url?.username === '' && url.password === '';
}
