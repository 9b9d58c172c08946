import { readSignedText, SIGNED_TEXT_REMOVED } from '../../../query/inbox/deliveries.js';
import { DELIVERIES as DELIVERY_LIST, REJECTED_WEBHOOKS } from '../../../query/lists/list-definitions.js';
import { maskCredentials } from '../../../text/mask.js';
import { createListCommand } from '../../lists/list-command.js';
import { createNumberedShowCommand } from '../../lists/show-command.js';
import { toJson } from '../../output/output-formats.js';
import { FORWARD } from './forward.js';
import { REPLAY } from './replay.js';
import { parseSignedText } from './signed-text.js';
import { TAIL } from './tail.js';

const show = createNumberedShowCommand(DELIVERY_LIST, async (delivery, reader) => {
  const signed_data = await readSignedText(reader, delivery);
  if (signed_data === null)
    return { jsonFields: { signed_data, content: null }, notices: [SIGNED_TEXT_REMOVED] };
  const content = parseSignedText(signed_data);
  const text = typeof content === 'string' ? content : toJson(content, 2);
  return { jsonFields: { signed_data, content }, lines: maskCredentials(text).split('\n') };
});

/** Commands of deliveries besides `list`. */
export const DELIVERIES = {
  show,
  rejected: createListCommand(REJECTED_WEBHOOKS),
  tail: TAIL,
  forward: FORWARD,
  replay: REPLAY,
};
