import { readSignedText, SIGNED_TEXT_REMOVED } from '../../query/inbox/deliveries.js';
import { DELIVERIES as DELIVERY_LIST, REJECTED_WEBHOOKS } from '../../query/lists/lists.js';
import { findExceededLimit } from '../../registry/json/json-text.js';
import { maskCredentials } from '../../text/mask.js';
import { createListCommand } from '../lists/list-command.js';
import { createNumberedShowCommand } from '../lists/show-command.js';
import { toJson } from '../output/output-formats.js';

const show = createNumberedShowCommand(DELIVERY_LIST, async (delivery, reader) => {
  const signed_data = await readSignedText(reader, delivery);
  if (signed_data === null)
    return { jsonFields: { signed_data, content: null }, notices: [SIGNED_TEXT_REMOVED] };
  const content = decodeSignedText(signed_data);
  const text = typeof content === 'string' ? content : toJson(content, 2);
  return { jsonFields: { signed_data, content }, lines: maskCredentials(text).split('\n') };
});

/** Commands of deliveries besides `list`. */
export const DELIVERIES = { show, rejected: createListCommand(REJECTED_WEBHOOKS) };

/** Decodes the base64 text of a delivery, and parses the text if it is JSON. */
function decodeSignedText(signedData: string): unknown {
  const signed = Buffer.from(signedData, 'base64').toString('utf8');
  // JSON that is nested too deeply stays text.
  if (findExceededLimit(signed) !== null) return signed;
  try {
    return JSON.parse(signed);
  } catch {
    return signed;
  }
}
