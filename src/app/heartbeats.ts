import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { type ProcessIdentity, type ProcessRole, HEARTBEAT_INTERVAL_MS } from '../inbox/process.js';

export function describeThisProcess(role: ProcessRole, startedAt: number): ProcessIdentity {
  return { role, host: hostname(), pid: process.pid, startedAt };
}

export const RECEIVER_FINGERPRINT_HEADER = 'x-carbon-mirror-receiver';

/** Tells one process from all others to who knows it already, and tells others nothing. */
export function fingerprintProcess({ host, pid, startedAt }: Omit<ProcessIdentity, 'role'>): string {
  return createHash('sha256').update(`${host} ${pid} ${startedAt}`).digest('hex');
}

export interface HeartbeatOptions {
  readonly writeHeartbeat: () => Promise<unknown>;
  readonly onFailure: (error: unknown) => void;
  readonly intervalMs?: number;
}

/** A heartbeat at once, and then every 15 seconds. Answers how to stop. */
export function startHeartbeats({
  writeHeartbeat: beat,
  onFailure: failed,
  intervalMs: everyMs = HEARTBEAT_INTERVAL_MS,
}: HeartbeatOptions): () => void {
  const give = () => void beat().catch(failed);
  give();
  const timer = setInterval(give, everyMs);
  return () => clearInterval(timer);
}

/** Long enough for a worker to have been started, too. */
const ALONE_AFTER_MS = 2 * 60_000;

export interface WorkerCheckOptions {
  readonly startedAt: number;
  readonly now: () => number;
  readonly hasSeenWorker: () => Promise<boolean>;
}

/**
 * Why a receiver is not ready for want of a worker. One that has died is no reason: what comes meanwhile must be
 * kept. But where none has ever worked this inbox, two processes share no disk, and nobody will ever read it.
 */
export function createWorkerCheck({
  startedAt,
  now,
  hasSeenWorker: workerEverSeen,
}: WorkerCheckOptions): () => Promise<string | null> {
  let seen = false;
  return async () => {
    if (seen || now() - startedAt < ALONE_AFTER_MS) return null;
    seen = await workerEverSeen();
    return seen ? null : 'no worker has ever worked this inbox: is it on the same disk?';
  };
}
