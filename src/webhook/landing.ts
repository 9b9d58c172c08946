import type { Request, Response } from 'express';
import type { Callback } from './callbacks.js';
import { LONGEST_STATE } from './install-state.js';

export const LANDING_PATH = '/installed';

/** How a callback was answered; for logs. */
export interface Landed {
  readonly status: 200 | 400 | 503;
  readonly sender: string | null;
  /** Null unless it was taken. */
  readonly installationId: string | null;
  readonly error: unknown;
}

export interface LandingOptions {
  /** Whether it was taken; rejects where it could not be stored. */
  readonly land: (callback: Callback) => Promise<boolean>;
  readonly landed?: ((landed: Landed) => void) | undefined;
}

/** Each costs a look at its seal in the thread that stores deliveries: more at once than people are is turned away. */
const MOST_AT_ONCE = 32;

const WORDS = {
  200: ['Installed', 'Thank you: your credits will be here in a moment.'],
  400: [
    'Not known',
    'This link is none of ours, is too old or was used for another installation. If you have installed the app, all is well: ask whoever sent you here for a new link only where your credits do not come.',
  ],
  503: ['One moment', 'We could not note this. Please load the page again in some seconds.'],
} as const;

/** Where people come back to from the registry's page: it takes only what one of our own states came with. */
export function createLanding({ land, landed }: LandingOptions) {
  let underWay = 0;

  async function take(request: Request): Promise<Landed> {
    const sender = request.socket.remoteAddress ?? null;
    const refused = { status: 400, sender, installationId: null, error: null } as const;
    const { state, installationId } = request.query;
    if (typeof state !== 'string' || typeof installationId !== 'string') return refused;
    if (state.length > LONGEST_STATE) return refused;
    if (underWay >= MOST_AT_ONCE) return { ...refused, status: 503 };
    underWay += 1;
    try {
      const isTaken = await land({ state, installationId });
      return isTaken ? { ...refused, status: 200, installationId } : refused;
    } catch (error) {
      return { ...refused, status: 503, error };
    } finally {
      underWay -= 1;
    }
  }

  return async (request: Request, response: Response): Promise<void> => {
    const answer = await take(request);
    sendPage(response, answer.status);
    landed?.(answer);
  };
}

/** The address holds a state: it is told to nobody, and kept by no cache. */
function sendPage(response: Response, status: Landed['status']): void {
  const [title, text] = WORDS[status];
  response.set({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(status === 503 && { 'retry-after': '5' }),
  });
  response.status(status).type('html');
  response.send(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${title}</title>
<h1>${title}</h1>
<p>${text}</p>
</html>
`);
}
