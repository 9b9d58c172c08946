import type { Request, Response } from 'express';

export const WEBHOOK_PATH = '/webhooks';
/** Where the registry sends people after they installed the app. */
export const LANDING_PATH = '/installed';

/** The pages that the receiver shows to people. They are fixed texts, without forms or anything about the visitor. */
export const PAGES = [
  {
    path: '/',
    send: createPageHandler(
      'carbon-mirror',
      `This is a carbon-mirror receiver. The registry posts its webhooks to <code>${WEBHOOK_PATH}</code>.`,
    ),
  },
  {
    path: LANDING_PATH,
    send: createPageHandler('Installed', 'Thank you. The registry notifies us, and your credits follow.'),
  },
];

/** Creates the handler that sends a fixed HTML page with `no-store` and `no-referrer` headers. */
function createPageHandler(title: string, text: string) {
  const html = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${title}</title>
<p>${text}</p>
</html>
`;
  return (_request: Request, response: Response): void => {
    // The URL may contain data from the registry.
    response.set({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    response.type('html').send(html);
  };
}
