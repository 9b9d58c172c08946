import { deriveSecret } from '../../../events/signing.js';
import { readNumberBefore } from '../../../query/history/changes.js';
import { createUsageError } from '../../command-error.js';
import { defineCommand } from '../../define-command.js';
import { defineParsedText, defineText, definePastDate, makeRequired, withDefault } from '../../options.js';
import { assertKeyOfSubscription, requireEventsKey } from '../../subscriptions/events-key.js';
import { withSubscription } from '../../subscriptions/open-subscriptions.js';
import { parseDuration } from '../../../text/duration.js';

export const ID = makeRequired(defineText('id', 'id of the subscription, or its beginning, or its URL'));
const RESULT_FORMAT = { json: 'print the result as JSON' };

export const PAUSE = defineCommand({
  summary: 'Stop sending to a subscription for now',
  details: 'Nothing is lost: "resume" continues where it stopped.',
  args: { id: ID },
  formats: RESULT_FORMAT,
  examples: ['carbon-mirror subscriptions pause sub_0a1b2c3d4e'],
  run: (context, { id: name }) =>
    withSubscription(context, name, async (port, { id }) => {
      await port.pause(id, 'by command');
      await context.printResult({ id, state: 'paused' }, `Paused ${id}.`);
    }),
});

export const RESUME = defineCommand({
  summary: 'Continue to send to a paused subscription',
  details: 'Also sends again at once what was refused, and ends the pause of organizations.',
  args: { id: ID },
  formats: RESULT_FORMAT,
  examples: ['carbon-mirror subscriptions resume sub_0a1b2c3d4e'],
  run: (context, { id: name }) =>
    withSubscription(context, name, async (port, { id }) => {
      await port.resume(id, new Date(context.io.now()).toISOString());
      await context.printResult({ id, state: 'active' }, `Resumed ${id}.`);
    }),
});

export const REMOVE = defineCommand({
  summary: 'Remove a subscription and its attempts',
  args: { id: ID },
  formats: RESULT_FORMAT,
  examples: ['carbon-mirror subscriptions remove sub_0a1b2c3d4e'],
  run: (context, { id: name }) =>
    withSubscription(context, name, async (port, { id, url }) => {
      await port.remove(id);
      await context.printResult({ id, url, removed: true }, `Removed ${id} (${url}).`);
    }),
});

export const ROTATE = defineCommand({
  summary: 'Replace the secret, and print the new one once',
  details: 'Events are signed with both secrets until the overlap ends, so the subscriber can change over.',
  args: { id: ID },
  options: {
    overlap: withDefault(
      defineParsedText('time', 'how long the old secret signs too, such as 24h or 30m', text => {
        const ms = parseDuration(text);
        if (ms !== null) return ms;
        throw createUsageError(`--overlap: expected a time such as 24h, got "${text}".`);
      }),
      '24h',
    ),
  },
  formats: { json: 'print the new secret as JSON' },
  examples: ['carbon-mirror subscriptions rotate sub_0a1b2c3d4e --overlap 2h'],
  run: (context, { id: name, overlap }) =>
    withSubscription(context, name, async (port, subscription) => {
      const key = requireEventsKey(context);
      assertKeyOfSubscription(key, subscription);
      const { id, generation } = subscription;
      const previousUntil = new Date(context.io.now() + overlap).toISOString();
      await port.rotate(id, previousUntil);
      const secret = deriveSecret(key, id, generation + 1);
      if (context.format === 'json') return await context.printJson({ id, secret, previousUntil });
      await context.printLines(secret);
      context.printNotice(
        `The old secret of ${id} signs too until ${previousUntil}.`,
        'Store the new one now: it cannot be shown again.',
      );
    }),
});

export const REPLAY = defineCommand({
  summary: 'Send events again from a date on',
  details: 'Repeated events have the ids and bodies that they had, except after a restore.',
  args: { id: ID },
  options: { since: makeRequired(definePastDate('first day', 'start')) },
  formats: RESULT_FORMAT,
  examples: ['carbon-mirror subscriptions replay sub_0a1b2c3d4e --since yesterday'],
  run: (context, { id: name, since }) =>
    withSubscription(context, name, async (port, { id, change_cursor, occurrence_cursor }) => {
      const instant = since.since;
      const reader = await context.openReader();
      const change = Math.min(change_cursor, await readNumberBefore(reader, instant));
      const occurrence = Math.min(occurrence_cursor, await port.findOccurrenceBefore(instant));
      await port.replay(id, change, occurrence);
      await context.printResult(
        { id, afterChange: change, since: instant },
        `Sending again what was observed since ${instant}: changes after number ${change}.`,
      );
    }),
});
