import { HEARTBEAT_INTERVAL_MS } from '../inbox/process.js';

export interface HeartbeatOptions {
  readonly writeHeartbeat: () => Promise<unknown>;
  readonly onFailure: (error: unknown) => void;
  readonly intervalMs?: number;
}

/** Starts to write heartbeats periodically. Returns a function that stops the heartbeats. */
export function startHeartbeats({
  writeHeartbeat,
  onFailure,
  intervalMs = HEARTBEAT_INTERVAL_MS,
}: HeartbeatOptions): () => void {
  const beat = () => void writeHeartbeat().catch(onFailure);
  beat();
  const timer = setInterval(beat, intervalMs);
  return () => clearInterval(timer);
}
