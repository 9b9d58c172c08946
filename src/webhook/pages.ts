import type { Request, Response } from 'express';

export const WEBHOOK_PATH = '/webhooks';
/** Where the registry's page sends people back to. */
export const LANDING_PATH = '/installed';

/** What people see at the receiver: it knows nobody, and asks for nothing. */
export const PAGES = [
  {
    path: '/',
    send: page(
      'carbon-mirror',
      `This is a carbon-mirror receiver. The registry posts its webhooks to <code>${WEBHOOK_PATH}</code>.`,
    ),
  },
  {
    path: LANDING_PATH,
    send: page('Installed', 'Thank you: the registry tells us of it, and your credits follow.'),
  },
];

/** Its address may hold what the registry's page put into it: it is told to nobody, and kept by no cache. */
function page(title: string, text: string) {
  const bytes = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${title}</title>
<p>${text}</p>
</html>
`;
  return (_request: Request, response: Response): void => {
    response.set({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    response.type('html').send(bytes);
  };
}
