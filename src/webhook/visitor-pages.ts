import type { Request, Response } from 'express';
import { NOTICE_STYLE_SOURCE, renderNoticePage } from '../text/notice-page.js';

export const WEBHOOK_PATH = '/webhooks';
/** Where the registry sends people after they installed the app. */
export const LANDING_PATH = '/installed';

/** The pages that the receiver shows to people. They are fixed texts, without forms or anything about the visitor. */
export const PAGES = [
  {
    path: '/',
    send: createPageHandler(
      'carbon-mirror',
      `<p>This is a carbon-mirror receiver. The registry posts its webhooks to <code>${WEBHOOK_PATH}</code>.</p>`,
    ),
  },
  {
    path: LANDING_PATH,
    send: createPageHandler(
      'Installed',
      `<p>Thank you. The registry notifies us, and your credits follow.</p>
<ol><li class="done">Installed <span>The registry sent you here after the installation.</span></li>
<li>Notified <span>The registry posts a webhook to this server.</span></li>
<li>Read <span>Your organization and its credits appear in the mirror after the first read.</span></li></ol>
<p>You can close this page.</p>`,
    ),
  },
];

/** Creates the handler that sends a fixed HTML page with `no-store` and `no-referrer` headers. */
function createPageHandler(title: string, content: string) {
  const html = renderNoticePage({ title, content });
  return (_request: Request, response: Response): void => {
    // The URL may contain data from the registry.
    response.set({
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; style-src ${NOTICE_STYLE_SOURCE}`,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    response.type('html').send(html);
  };
}
