import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { type ProcessIdentity, type ProcessRole, HEARTBEAT_INTERVAL_MS } from '../inbox/process.js';

/** Returns the host, process id and start time that this process writes with each heartbeat. */
export function describeThisProcess(role: ProcessRole, startedAt: number): ProcessIdentity {
  return { role, host: hostname(), pid: process.pid, startedAt };
}

/** The response header with the fingerprint of a receiver, by which `doctor` recognizes a receiver of its own mirror. */
export const RECEIVER_FINGERPRINT_HEADER = 'x-carbon-mirror-receiver';

/** Returns a hash that identifies a process without revealing the host name or process id. */
export function fingerprintProcess({ host, pid, startedAt }: Omit<ProcessIdentity, 'role'>): string {
  return createHash('sha256').update(`${host} ${pid} ${startedAt}`).digest('hex');
}

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

/** Long enough for a worker to start, too. */
const WORKER_GRACE_MS = 2 * 60_000;

export interface WorkerCheckOptions {
  /** When the receiver started, in epoch ms. */
  readonly startedAt: number;
  readonly now: () => number;
  /** Returns whether any worker has ever used this inbox. */
  readonly hasSeenWorker: () => Promise<boolean>;
}

/** Creates a readiness check that fails if two minutes after the start no worker has ever used the inbox. */
export function createWorkerCheck({
  startedAt,
  now,
  hasSeenWorker,
}: WorkerCheckOptions): () => Promise<string | null> {
  // Without a worker, the two processes probably share no disk, and nobody would read the deliveries. A worker that
  // died does not fail the check, because deliveries must still be stored.
  let wasSeen = false;
  return async () => {
    if (wasSeen || now() - startedAt < WORKER_GRACE_MS) return null;
    wasSeen = await hasSeenWorker();
    return wasSeen ? null : 'no worker has ever used this inbox: is it on the same disk?';
  };
}
