import type { ArrivedDelivery } from '../../../query/inbox/deliveries.js';
import { defineCommand } from '../../define-command.js';
import { writeStdout, cleanLine } from '../../io.js';
import { defineWholeNumber } from '../../options.js';
import { toJson } from '../../output/output-formats.js';
import { followDeliveries } from './follow-deliveries.js';

export const TAIL = defineCommand({
  summary: 'Print deliveries as they arrive',
  details:
    'Runs until it is stopped. A duplicate that is counted in the row of its delivery is not printed again.',
  options: {
    after: defineWholeNumber('--after', 'begin with the stored deliveries that have a higher number'),
  },
  formats: { json: 'print each delivery as one line of JSON' },
  examples: ['carbon-mirror deliveries tail', 'carbon-mirror deliveries tail --after 0 --json'],
  run: async (context, { after }) => {
    const { io, format } = context;
    for await (const { signed_data: _, ...delivery } of followDeliveries(context, after))
      await writeStdout(io, `${format === 'json' ? toJson(delivery) : formatLine(delivery)}\n`);
  },
});

/** Formats a delivery as a line: arrival, number, event, organization and verdict. */
function formatLine(delivery: Omit<ArrivedDelivery, 'signed_data'>): string {
  const {
    id,
    received_at: receivedAt,
    event,
    organization_name: name,
    installation_id: installation,
  } = delivery;
  const owner = name ?? installation ?? 'unknown installation';
  const verdict = delivery.ignored_reason === null ? delivery.verdict : `ignored: ${delivery.ignored_reason}`;
  return cleanLine([receivedAt, id, event ?? 'unknown event', owner, verdict].join('  '));
}
