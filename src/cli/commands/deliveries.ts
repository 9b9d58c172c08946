import { readSignedText } from '../../query/inbox/deliveries.js';
import { DELIVERIES as OF_DELIVERIES, REJECTED_WEBHOOKS } from '../../query/lists/lists.js';
import { maskLooks } from '../../registry/http/mask.js';
import { excessOf } from '../../registry/json/json-text.js';
import { type Command, command } from '../command.js';
import { findNumbered, listCommand, printList } from '../lists/list.js';
import { jsonText } from '../output/output.js';
import { sheet } from '../output/sheet.js';
import { flag, needed, readNumber, text } from '../options.js';

const ID = needed(text('id', 'its number'));
const LIST = listCommand(OF_DELIVERIES);
const REJECTED = flag('show what was rejected and is in no list: how many in each minute, and why', {
  conflicts: Object.keys(LIST.options ?? {}).filter(name => name !== 'limit'),
});

const list: Command = {
  ...LIST,
  options: { ...LIST.options, rejected: REJECTED },
  run: async (context, given) => {
    if (given['rejected'] !== true) return await LIST.run?.(context, given);
    const most = readNumber('--limit', String(given['limit'])) || null;
    const shown = await printList(context, REJECTED_WEBHOOKS, { given: {}, at: null, most });
    if (shown > 0) context.say('Minutes are in UTC. "carbon-mirror doctor" says what may be wrong.');
    return undefined;
  },
};

const show = command({
  says: 'Show one delivery: what was signed, and what became of it',
  words: { id: ID },
  prints: { json: 'print it as JSON' },
  run: async (context, { id }) => {
    const delivery = await findNumbered(context, OF_DELIVERIES, id);
    const signedData = await readSignedText(await context.reader(), delivery);
    const content = signedData === null ? null : decode(signedData);
    if (context.format === 'json')
      return await context.value({ ...delivery, signed_data: signedData, content });
    await context.print(...sheet(delivery));
    if (signedData === null)
      context.say('The signed text was removed: it is older than RETENTION_DAYS, or a person was forgotten.');
    else
      await context.print(
        ...maskLooks(typeof content === 'string' ? content : jsonText(content, 2)).split('\n'),
      );
    return undefined;
  },
});

/** The list with what is in no list, and what was signed. */
export const DELIVERIES = { list, show };

/** JSON that could be read but not written again stays the text that it is. */
function decode(signedData: string): unknown {
  const signed = Buffer.from(signedData, 'base64').toString('utf8');
  if (excessOf(signed) !== null) return signed;
  try {
    return JSON.parse(signed);
  } catch {
    return signed;
  }
}
