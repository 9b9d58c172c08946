import { readSettings } from '../../../app/config/read-settings.js';
import type { ArrivedDelivery } from '../../../query/inbox/deliveries.js';
import { isObject } from '../../../text/checks.js';
import { signDelivery } from '../../../webhook/signature.js';
import { defineCommand } from '../../define-command.js';
import { writeStdout } from '../../io.js';
import { defineText, defineWholeNumber, makeRequired } from '../../options.js';
import { toJson } from '../../output/output-formats.js';
import { requireLoopbackUrl, tryPostWebhook } from '../../post-webhook.js';
import { followDeliveries } from './follow-deliveries.js';
import { parseSignedText } from './signed-text.js';

export const FORWARD = defineCommand({
  summary: 'Post deliveries to a program on this machine',
  details:
    'Posts each accepted delivery as it arrives, signed with the newest of WEBHOOK_SECRETS. A delivery that the program does not take is reported and not sent again. Runs until it is stopped.',
  options: {
    to: makeRequired(defineText('url', 'where the program listens, on a loopback address')),
    after: defineWholeNumber('--after', 'begin with the stored deliveries that have a higher number'),
  },
  formats: { json: 'print the result of each delivery as one line of JSON' },
  examples: [
    'carbon-mirror deliveries forward --to http://127.0.0.1:3000/webhooks',
    'carbon-mirror deliveries forward --to http://127.0.0.1:3000/webhooks --after 0',
  ],
  run: async (context, { to, after }) => {
    const url = requireLoopbackUrl('--to', to);
    const { webhookSecrets, headerPrefix } = await readSettings(context.requireMirror().env, 'receive');
    for await (const delivery of followDeliveries(context, after)) {
      const body = createBody(delivery);
      if (delivery.verdict !== 'accepted' || body === null) continue;
      const signature = signDelivery(delivery.signed_data ?? '', webhookSecrets[0] ?? '');
      const result = await tryPostWebhook(url, { [`x-${headerPrefix}-signature-256`]: signature }, body);
      const { id, event } = delivery;
      if (context.format === 'json')
        await writeStdout(context.io, `${toJson({ delivery: id, event, result })}\n`);
      else await context.printLines(`${result}  delivery ${id}: ${event ?? 'unknown event'}`);
    }
  },
});

/** Creates the body of a webhook as the registry sends it. Returns null if the signed text was removed. */
function createBody({ signed_data: signedData }: ArrivedDelivery): string | null {
  if (!signedData) return null;
  const content = parseSignedText(signedData);
  return JSON.stringify({ ...(isObject(content) && content), signedData });
}
