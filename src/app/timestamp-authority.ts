/** Posts timestamp requests to the authority that EVIDENCE_TIMESTAMP_URL names. */
import { MAX_TIMESTAMP_BYTES, type PostTimestampRequest } from '../evidence/timestamp.js';
import type { OutboundRange } from './outbound/address-ranges.js';
import { createOutbound } from './outbound/outbound.js';

/**
 * Creates a function that posts timestamp requests to the timestamp authority at `url`. The IP address of the authority must be
 * public or in one of the `allowed` ranges. Plain http is allowed, because the authority signs its answers and few authorities
 * offer https.
 */
export function createTimestampPost(url: string, allowed: readonly OutboundRange[]): PostTimestampRequest {
  return async body => {
    const outbound = createOutbound({ allowed, allowsHttp: true });
    try {
      return await outbound.post({
        url,
        body,
        headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
        maxResponseBytes: MAX_TIMESTAMP_BYTES,
      });
    } finally {
      outbound.close();
    }
  };
}
