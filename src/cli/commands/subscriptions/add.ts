import { readLastNumber } from '../../../query/history/changes.js';
import { randomBytes } from 'node:crypto';
import { parseOutboundRanges } from '../../../app/outbound/address-ranges.js';
import { parseEventTypes, SELECTABLE_TYPES } from '../../../events/catalogue/catalogue.js';
import { createEpochName } from '../../../events/epoch-name.js';
import { deriveKeyCheck, deriveSecret } from '../../../events/signing.js';
import { createUsageError } from '../../command-error.js';
import type { CommandContext } from '../../context.js';
import { defineCommand } from '../../define-command.js';
import { defineParsedText, defineText, makeRequired, parseWholeNumber, withDefault } from '../../options.js';
import { createOrReadEventsKey } from '../../subscriptions/events-key.js';
import { withSubscriptions } from '../../subscriptions/open-subscriptions.js';

const MAX_SUBSCRIPTIONS = 100;
const ID_BYTES = 5;

const EVENTS = makeRequired(
  defineParsedText(
    'names',
    'types of events, separated by commas, such as retirement.created,credit.changed; "retirement.*" in quotation marks for a group, or all; "carbon-mirror subscriptions events" lists them',
    text => {
      const types = parseEventTypes(text);
      if ('fault' in types) throw createUsageError(`--events: ${types.fault}`);
      return types;
    },
  ),
);

const FROM = withDefault(
  defineParsedText(
    'start',
    'first event: now, beginning (the whole history of the mirror), or the number of a change after which to begin',
    text => (text === 'now' || text === 'beginning' ? text : parseWholeNumber('--from', text)),
  ),
  'now',
);

export const ADD = defineCommand({
  summary: 'Send events to a URL, and print the secret once',
  details:
    'Events are signed as https://www.standardwebhooks.com describes. The URL must be https with a public address; OUTBOUND_ALLOW allows others.',
  args: { url: makeRequired(defineText('url', 'address to which events are posted')) },
  options: { events: EVENTS, from: FROM },
  formats: { json: 'print the subscription with its secret as JSON' },
  examples: [
    'carbon-mirror subscriptions add https://shop.example/hooks --events retirement.created,credit.changed',
    'carbon-mirror subscriptions add https://shop.example/hooks --events "retirement.*"',
    'carbon-mirror subscriptions add https://copy.example/hooks --events all --from beginning',
  ],
  run: async (context, { url, events, from }) => {
    await assertUsableUrl(context, url);
    const { io, requireMirror } = context;
    const { engine } = requireMirror();
    const subscriptions = await withSubscriptions(context, async port => (await port?.list()) ?? []);
    if (subscriptions.length >= MAX_SUBSCRIPTIONS)
      throw createUsageError(`There are already ${MAX_SUBSCRIPTIONS} subscriptions.`, 'Remove one first.');
    const key = createOrReadEventsKey(context, subscriptions.length > 0);
    await engine.prepare(['events'], io.now(), () => undefined);
    const newest = await readLastNumber(await context.openReader());
    if (typeof from === 'number' && from > newest)
      throw createUsageError(`--from: the newest change has the number ${newest}, got ${from}.`);
    const id = `sub_${randomBytes(ID_BYTES).toString('hex')}`;
    await withSubscriptions(context, async port => {
      const at = new Date(io.now()).toISOString();
      const first = {
        epoch: createEpochName(randomBytes),
        at,
        reason: 'created',
        newestChange: newest,
      } as const;
      const epoch = await port?.ensureEpoch(first);
      await port?.add({
        id,
        url,
        events: JSON.stringify(events),
        created_at: at,
        key_check: deriveKeyCheck(key, id),
        epoch: epoch?.epoch ?? first.epoch,
        change_cursor: from === 'now' ? newest : from === 'beginning' ? 0 : from,
        occurrence_cursor: from === 'beginning' ? 0 : (epoch?.newest_occurrence ?? 0),
      });
    });
    const secret = deriveSecret(key, id, 1);
    const types = events.length === SELECTABLE_TYPES.length ? ['all'] : events;
    if (context.format === 'json') return await context.printJson({ id, url, events: types, from, secret });
    await context.printLines(secret);
    context.printNotice(
      `Added the subscription ${id} for ${types.join(', ')}.`,
      'Store the secret now: it cannot be shown again.',
      `Next: carbon-mirror subscriptions test ${id}`,
    );
  },
});

/** Throws a usage error if events could never be posted to the URL. Host names are checked later, at each connection. */
async function assertUsableUrl({ requireMirror }: CommandContext, text: string): Promise<void> {
  const { assertAllowed, parseOutboundUrl, readLiteralAddress } = await import(
    '../../../app/outbound/outbound.js'
  );
  const allowed = parseOutboundRanges(requireMirror().env['OUTBOUND_ALLOW'] ?? '') ?? [];
  try {
    const url = parseOutboundUrl(text);
    const address = url.hostname === 'localhost' ? '127.0.0.1' : readLiteralAddress(url);
    if (address !== null) assertAllowed([address], url, { allowed });
    else if (url.protocol !== 'https:') throw new Error('expected https');
  } catch (error) {
    throw createUsageError(`URL: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
