import { randomBytes } from 'node:crypto';
import { parseOutboundRanges } from '../../../app/outbound/address-ranges.js';
import { formatEventBody } from '../../../events/catalogue/event.js';
import { createEventHeaders, deriveSecret } from '../../../events/signing.js';
import { createCheckError } from '../../command-error.js';
import { defineCommand } from '../../define-command.js';
import { assertKeyOfSubscription, requireEventsKey } from '../../subscriptions/events-key.js';
import { withSubscription } from '../../subscriptions/open-subscriptions.js';
import { ID } from './state-commands.js';

const ID_BYTES = 6;
const [FIRST_SUCCESS, FIRST_REDIRECT] = [200, 300];

export const TEST = defineCommand({
  summary: 'Send a signed test event and show the answer',
  args: { id: ID },
  formats: { json: 'print the answer as JSON' },
  examples: ['carbon-mirror subscriptions test sub_0a1b2c3d4e'],
  run: (context, { id: name }) =>
    withSubscription(context, name, async (_, subscription) => {
      const key = requireEventsKey(context);
      assertKeyOfSubscription(key, subscription);
      const { id, url, generation } = subscription;
      const { openEventPost } = await import('../../../app/events/event-post.js');
      const allowed = parseOutboundRanges(context.requireMirror().env['OUTBOUND_ALLOW'] ?? '') ?? [];
      const connection = openEventPost(allowed);
      const at = context.io.now();
      const timestamp = new Date(at).toISOString();
      const body = formatEventBody({ type: 'subscription.test', timestamp, data: { subscription_id: id } });
      const eventId = `test_${randomBytes(ID_BYTES).toString('hex')}`;
      const headers = createEventHeaders({ id: eventId, at, body }, [deriveSecret(key, id, generation)]);
      const result = await connection.post({ url, headers, body });
      connection.close();
      const answer = 'error' in result ? `no answer (${result.error})` : `HTTP status ${result.status}`;
      const isAccepted =
        'status' in result && result.status >= FIRST_SUCCESS && result.status < FIRST_REDIRECT;
      if (!isAccepted)
        throw createCheckError(
          `${url}: ${answer}.`,
          'A subscriber must answer with a status from 200 to 299 within 10 seconds.',
        );
      await context.printResult({ id, eventId, ...result }, `${url} accepted the test event: ${answer}.`);
    }),
});
