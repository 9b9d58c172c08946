/**
 * Functions with which commands use the evidence log.
 *
 * A mirror has no evidence log until a worker runs with EVIDENCE_KEY_FILE. So each function opens the log only if it exists. The
 * modules of the log are loaded on use, so that other commands start quickly.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { parseOutboundRanges } from '../../app/outbound/address-ranges.js';
import type { EvidencePort, LeafFilter } from '../../evidence/port.js';
import type { CommandContext, MirrorContext } from '../context.js';
import { createUsageError } from '../command-error.js';
import { useAndClose } from '../mirror-location.js';

/** The parts of a command's context that the functions of the evidence log need. */
export type EvidenceContext = Pick<CommandContext, 'io' | 'requireMirror'>;

/** Opens the evidence log, passes it to `use` and closes it. Returns null if no evidence log exists. */
export async function withEvidenceLog<Result>(
  { engine }: Pick<MirrorContext, 'engine'>,
  use: (port: EvidencePort) => Promise<Result>,
): Promise<Result | null> {
  const port = await engine.openEvidence();
  return port === null ? null : await useAndClose(port, use);
}

/**
 * Deletes rows, and erases their leaves (entries) in the evidence log. First erases the leaves that `selectLeaves` selects: the hash of an
 * erased leaf stays, but no longer reveals a row. Then calls `removeRows`, which deletes the rows, and returns the result of `removeRows`.
 *
 * If there is no evidence log, only calls `removeRows`. Throws a usage error if the log has leaves but its key is not set.
 */
export async function eraseWithEvidence<Removed>(
  { io, requireMirror }: EvidenceContext,
  kind: 'forget' | 'purge',
  selectLeaves: () => Promise<LeafFilter>,
  removeRows: () => Promise<Removed>,
): Promise<Removed> {
  const { readKeyFile } = await import('../../evidence/key-file.js');
  const { eraseLeaves } = await import('../../evidence/erase-leaves.js');
  const erased = await withEvidenceLog(requireMirror(), async port => {
    const keyFile = requireMirror().env['EVIDENCE_KEY_FILE'];
    if (!keyFile && (await port.readProgress()).size === 0) return null;
    if (!keyFile)
      throw createUsageError(
        'EVIDENCE_KEY_FILE is not set. Nothing was removed: the evidence log must record the removal, and only its key can write to it.',
        'Set it to the file of the key.',
      );
    const tools = { port, key: () => readKeyFile(keyFile), now: io.now, randomBytes, holder: randomUUID() };
    /** Erases the salts of the leaves: without its salt, a leaf no longer reveals the row. */
    return { removed: await eraseLeaves(tools, kind, selectLeaves, removeRows) };
  });
  return erased === null ? await removeRows() : erased.removed;
}

/**
 * Seals the newest data before an export of one organization, or of all if the id is null: appends the data to the evidence log and signs a
 * checkpoint of the log. Also records until when reads found the exported lists unchanged, so that the export says when they were last
 * read. If a timestamp authority is configured, timestamps the checkpoint.
 *
 * Returns null on success. Otherwise returns the reason of the failure: a missing key, or an error that a user can solve.
 */
export async function sealBeforeExport(
  { io, requireMirror }: EvidenceContext,
  port: EvidencePort,
  organizationId: string | null,
): Promise<string | null> {
  const keyFile = requireMirror().env['EVIDENCE_KEY_FILE'];
  if (!keyFile) return 'EVIDENCE_KEY_FILE is not set';
  const { openLastSignedFile, readKeyFile } = await import('../../evidence/key-file.js');
  const { sealForExport } = await import('../../evidence/seal.js');
  const { timestampCheckpoint } = await import('../../evidence/publish-checkpoint.js');
  const { createTimestampPost } = await import('../../app/timestamp-authority.js');
  const sealer = {
    port,
    key: () => readKeyFile(keyFile),
    lastSigned: openLastSignedFile(keyFile),
    now: io.now,
    randomBytes,
    holder: randomUUID(),
    signal: io.createInterruptSignal(),
  };
  try {
    await sealForExport(sealer, organizationId);
    const { EVIDENCE_TIMESTAMP_URL: url, OUTBOUND_ALLOW: ranges } = requireMirror().env;
    if (url)
      await timestampCheckpoint(sealer, createTimestampPost(url, parseOutboundRanges(ranges ?? '') ?? []));
    return null;
  } catch (error) {
    /** The user who exports may not be allowed to read the key or to write next to it, and the authority may be down. */
    const isExpected = error instanceof Error && (error.name === 'EvidenceError' || 'code' in error);
    if (isExpected) return error.message;
    throw error;
  }
}

/** Returns null if the error says that the database refused access. Rethrows any other error. */
export function toNullIfRefused(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'refused') return null;
  throw error;
}

/**
 * Describes in a sentence which checkpoint covers a row version, or that it is not sealed yet. Returns null if there is no
 * evidence log or the database refuses access to it.
 */
export async function describeSealOfVersion(
  location: Pick<MirrorContext, 'engine'>,
  version: number,
): Promise<string | null> {
  const { describeSeal } = await import('../../evidence/describe-seal.js');
  const description = withEvidenceLog(location, port => describeSeal(port, version));
  return await description.catch(toNullIfRefused);
}
