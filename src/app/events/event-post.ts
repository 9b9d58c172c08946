import type { EventPost } from '../../events/send/sender-types.js';
import { PARALLEL_ORGANIZATIONS } from '../../events/send/serve-subscription.js';
import type { OutboundRange } from '../outbound/address-ranges.js';
import { createOutbound } from '../outbound/outbound.js';
import { OutboundError } from '../outbound/outbound-error.js';

/** Subscribers should answer with nothing. An answer that is longer is a page of something else. */
const MAX_ANSWER_BYTES = 65_536;

/**
 * Creates an object that posts events to one subscriber. `post` returns the HTTP status, or an error code if no response
 * arrives.
 */
export function openEventPost(allowed: readonly OutboundRange[]): EventPost {
  const outbound = createOutbound({ allowed, connections: PARALLEL_ORGANIZATIONS });
  return {
    post: async request => {
      try {
        const { status } = await outbound.post({ ...request, maxResponseBytes: MAX_ANSWER_BYTES });
        return { status };
      } catch (error) {
        if (error instanceof OutboundError) return { error: error.code };
        throw error;
      }
    },
    close: outbound.close,
  };
}
