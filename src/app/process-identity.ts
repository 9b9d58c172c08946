import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { type ProcessIdentity, type ProcessRole } from '../inbox/process.js';

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
