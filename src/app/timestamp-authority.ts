/** Posts requests for timestamps to the authority of EVIDENCE_TIMESTAMP_URL. */
import type { PostTimestampRequest } from '../evidence/timestamp.js';

/** Redirects are not followed, because they could lead to a host in the internal network. */
export function createTimestampPost(url: string): PostTimestampRequest {
  return (body, signal) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
      body,
      redirect: 'manual',
      signal,
    });
}
