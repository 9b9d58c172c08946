import { decodeSignedText } from '../../../query/inbox/deliveries.js';
import { findExceededLimit } from '../../../registry/json/json-text.js';

/**
 * Decodes the base64 data of a delivery and parses it as JSON. Returns the text if it is not JSON or is nested too deeply, and the base64
 * data if the decoded bytes are not text.
 */
export function parseSignedText(signedData: string): unknown {
  const text = decodeSignedText(signedData);
  // JSON that is nested too deeply stays text.
  if (findExceededLimit(text) !== null) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
