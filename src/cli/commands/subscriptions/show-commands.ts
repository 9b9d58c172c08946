import { readLastNumber } from '../../../query/history/changes.js';
import { createEventSchema, EVENT_TYPES, isEventType } from '../../../events/catalogue/catalogue.js';
import { describeWrongWord } from '../../../text/spelling.js';
import { createUsageError } from '../../command-error.js';
import { defineCommand, ROW_FORMATS } from '../../define-command.js';
import { defineParsedText, defineRowLimit } from '../../options.js';
import { withSubscription, withSubscriptions } from '../../subscriptions/open-subscriptions.js';
import { SUBSCRIPTION_COLUMNS, toSubscriptionRow } from '../../subscriptions/subscription-rows.js';
import { ID } from './state-commands.js';

export const LIST = defineCommand({
  summary: 'List subscriptions, their progress and problems',
  formats: ROW_FORMATS,
  run: async context => {
    const newest = await readLastNumber(await context.openReader());
    const rows = await withSubscriptions(context, async port => {
      const holds = (await port?.listHolds()) ?? [];
      return ((await port?.list()) ?? []).map(each => toSubscriptionRow(each, holds, newest));
    });
    await context.printRows(SUBSCRIPTION_COLUMNS, rows, { emptyMessage: 'No subscriptions.' });
  },
});

export const SHOW = defineCommand({
  summary: 'Show one subscription and the organizations that wait',
  args: { id: ID },
  formats: { json: 'print the subscription as JSON' },
  examples: ['carbon-mirror subscriptions show sub_0a1b2c3d4e'],
  run: (context, { id: name }) =>
    withSubscription(context, name, async (port, subscription) => {
      const newest = await readLastNumber(await context.openReader());
      const holds = (await port.listHolds()).filter(hold => hold.subscription_id === subscription.id);
      const row = toSubscriptionRow(subscription, holds, newest);
      const { created_at, epoch, change_cursor, generation, previous_until } = subscription;
      const details = { ...row, created_at, epoch, change_cursor, generation, previous_until };
      const held = holds.map(hold => ({
        organization_id: hold.organization_id,
        state: hold.state,
        event: hold.refused_type,
        attempts: hold.attempts,
        failing_since: hold.failing_since,
        next_attempt_at: hold.state === 'paused' ? null : hold.next_attempt_at,
        status: hold.status,
        error: hold.error,
      }));
      if (context.format === 'json') return await context.printJson({ ...details, held });
      await context.printLines(
        ...Object.entries(details).map(([key, value]) => `${key}: ${value === null ? '-' : String(value)}`),
      );
      if (held.length > 0) await context.printRows(Object.keys(held[0] ?? {}), held);
    }),
});

export const ATTEMPTS = defineCommand({
  summary: 'List the latest attempts to deliver events',
  details: 'Of an answer only its status is kept.',
  args: { id: ID },
  options: { limit: defineRowLimit(50) },
  formats: ROW_FORMATS,
  examples: ['carbon-mirror subscriptions attempts sub_0a1b2c3d4e --limit 10'],
  run: (context, { id: name, limit }) =>
    withSubscription(context, name, async (port, { id }) => {
      const attempts = await port.listAttempts(id, limit === 0 ? Number.MAX_SAFE_INTEGER : limit);
      const columns = ['attempted_at', 'event_id', 'type', 'status', 'error', 'duration_ms'];
      const rows = attempts.map(({ subscription_id: _, ...attempt }) => attempt);
      await context.printRows(columns, rows, { emptyMessage: 'No attempts.' });
    }),
});

export const EVENTS = defineCommand({
  summary: 'List the types of events, or print a schema',
  args: {
    type: defineParsedText('type', 'type whose JSON schema is printed', text => {
      if (isEventType(text)) return text;
      throw createUsageError(describeWrongWord(text, Object.keys(EVENT_TYPES)));
    }),
  },
  formats: { json: 'print all types with their JSON schemas' },
  examples: ['carbon-mirror subscriptions events retirement.created'],
  run: async (context, { type }) => {
    // Each line is printed for itself, because a line break inside one becomes a space.
    const printIndented = (value: object) =>
      context.printLines(...JSON.stringify(value, null, 2).split('\n'));
    if (type !== undefined) return await printIndented(createEventSchema(type));
    const types = Object.keys(EVENT_TYPES).filter(isEventType);
    if (context.format === 'json') {
      const schemas = types.map(each => [each, createEventSchema(each)] as const);
      // Not by printJson, which would change the keys of the schemas.
      return await printIndented(Object.fromEntries(schemas));
    }
    const rows = types.map(each => ({ type: each, description: EVENT_TYPES[each].description }));
    await context.printRows(['type', 'description'], rows);
  },
});
