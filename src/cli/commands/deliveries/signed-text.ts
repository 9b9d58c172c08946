import { findExceededLimit } from '../../../registry/json/json-text.js';

/** Decodes the base64 text of a delivery, and parses the text if it is JSON. */
export function decodeSignedText(signedData: string): unknown {
  const signed = Buffer.from(signedData, 'base64').toString('utf8');
  // JSON that is nested too deeply stays text.
  if (findExceededLimit(signed) !== null) return signed;
  try {
    return JSON.parse(signed);
  } catch {
    return signed;
  }
}
