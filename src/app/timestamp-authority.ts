/** Posts requests for timestamps to the authority of EVIDENCE_TIMESTAMP_URL. */
import { MAX_TIMESTAMP_BYTES, type PostTimestampRequest } from '../evidence/timestamp.js';
import type { OutboundRange } from './outbound/address-ranges.js';
import { createOutbound } from './outbound/outbound.js';

/** Plain http is enough, because the authority signs its answer. Most public authorities offer nothing else. */
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
