import { readSignedText } from '../../query/inbox/deliveries.js';
import { DELIVERIES as OF_DELIVERIES, REJECTED_WEBHOOKS } from '../../query/lists/lists.js';
import { findExceededLimit } from '../../registry/json/json-text.js';
import { maskCredentials } from '../../registry/http/mask.js';
import { listCommand } from '../lists/list.js';
import { showNumbered } from '../lists/show.js';
import { jsonText } from '../output/output.js';

const REMOVED = 'The signed text was removed: it is older than RETENTION_DAYS, or a person was forgotten.';

const show = showNumbered(OF_DELIVERIES, async (delivery, reader) => {
  const signed_data = await readSignedText(reader, delivery);
  if (signed_data === null) return { also: { signed_data, content: null }, says: [REMOVED] };
  const content = decode(signed_data);
  const text = typeof content === 'string' ? content : jsonText(content, 2);
  return { also: { signed_data, content }, prints: maskCredentials(text).split('\n') };
});

/** The list, what is in no list, and what was signed. */
export const DELIVERIES = { show, rejected: listCommand(REJECTED_WEBHOOKS) };

/** JSON that could be read but not written again stays the text that it is. */
function decode(signedData: string): unknown {
  const signed = Buffer.from(signedData, 'base64').toString('utf8');
  if (findExceededLimit(signed) !== null) return signed;
  try {
    return JSON.parse(signed);
  } catch {
    return signed;
  }
}
