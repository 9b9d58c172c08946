import { NO_LIMIT, type EvidencePort } from './port.js';
import { type PostTimestampRequest, requestTimestamp } from './timestamp.js';

/** The settings and functions that publish checkpoints outside this machine. */
export interface CheckpointPublisher {
  readonly port: EvidencePort;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Writes a checkpoint to the file that a web server publishes; null without EVIDENCE_CHECKPOINT_FILE. */
  readonly writeFile: ((note: string) => void) | null;
  /** Posts a request to the timestamp authority; null without EVIDENCE_TIMESTAMP_URL. */
  readonly post: PostTimestampRequest | null;
}

/**
 * Writes the newest checkpoint to the published file. Then requests a timestamp of this checkpoint, unless the newest timestamp is already
 * of this checkpoint or was requested today (UTC).
 */
export async function publishCheckpoint(publisher: CheckpointPublisher): Promise<void> {
  const { port, now, writeFile, post } = publisher;
  const checkpoint = await port.findCheckpoint(NO_LIMIT);
  if (checkpoint === null) return;
  writeFile?.(checkpoint.note);
  if (post === null) return;
  const newest = await port.findNewestAttestation('timestamp');
  const today = new Date(now()).toISOString().slice(0, 10);
  if (newest !== null && (newest.size === checkpoint.size || newest.requested_at.slice(0, 10) >= today))
    return;
  await timestampCheckpoint(publisher, post);
}

/** Requests a timestamp of the newest checkpoint and stores it, unless the checkpoint has one. */
export async function timestampCheckpoint(
  { port, now, randomBytes }: Pick<CheckpointPublisher, 'port' | 'now' | 'randomBytes'>,
  post: PostTimestampRequest,
): Promise<void> {
  const checkpoint = await port.findCheckpoint(NO_LIMIT);
  if (checkpoint === null) return;
  if ((await port.listTimestamps()).some(({ size }) => size === checkpoint.size)) return;
  const requested_at = new Date(now()).toISOString();
  const { token, at } = await requestTimestamp(checkpoint.note, post, randomBytes);
  await port.storeAttestation({
    size: checkpoint.size,
    kind: 'timestamp',
    requested_at,
    attested_at: at,
    token,
  });
}
