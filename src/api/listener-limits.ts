/** Limits of the listener. Requests may wait long for changes, so connections are many and may be silent. */
export const LISTENER_LIMITS = {
  maxConnections: 4_000,
  maxPipelinedRequests: 4,
  handleSequentially: true,
  /** A client that closes its half has left, so work on its answer can stop. */
  allowHalfOpen: false,
  responseReadTimeoutMs: 30_000,
  idleTimeoutMs: 60_000,
  shutdownGraceMs: 1_000,
};
