/**
 * The evidence log as commands use it: erase from it, continue it after a restore, check and verify it.
 *
 * A mirror has no evidence log until a worker runs with EVIDENCE_KEY_FILE. Each function therefore opens the log only
 * if it exists, and loads the modules of the log only then, so that other commands start quickly.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { EvidencePort, LeafFilter } from '../evidence/port.js';
import type { RestoredOrigin } from '../evidence/restore-log.js';
import type { VerifiedLog } from '../evidence/verify-log.js';
import { type Finding, fail, ok, warn } from '../store/contract/finding.js';
import { formatWithCommas } from '../text/numbers.js';
import type { CommandContext, MirrorLocation } from './context.js';
import { createCheckError, createUsageError } from './exit.js';
import { useAndClose } from './mirror-location.js';

type EvidenceContext = Pick<CommandContext, 'io' | 'requireMirror'>;

/** Opens the evidence log, passes it to `use` and closes it. Returns null if no evidence log exists. */
export async function withEvidenceLog<Result>(
  { engine }: Pick<MirrorLocation, 'engine'>,
  use: (port: EvidencePort) => Promise<Result>,
): Promise<Result | null> {
  const port = await engine.openEvidence();
  return port === null ? null : await useAndClose(port, use);
}

/** Deletes rows with `removeRows` and erases their entries (`selectLeaves`) from the evidence log. */
export async function eraseWithEvidence<Removed>(
  { io, requireMirror }: EvidenceContext,
  kind: 'forget' | 'purge',
  selectLeaves: () => Promise<LeafFilter>,
  removeRows: () => Promise<Removed>,
): Promise<Removed> {
  const { readKeyFile } = await import('../evidence/key-file.js');
  const { eraseLeaves } = await import('../evidence/erase-leaves.js');
  const erased = await withEvidenceLog(requireMirror(), async port => {
    const keyFile = requireMirror().env['EVIDENCE_KEY_FILE'];
    if (!keyFile && (await port.ends()).size === 0) return null;
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

/** Adds the newest data to the evidence log. Returns the reason for a failure, or null. */
export async function sealBeforeExport(
  { io, requireMirror }: EvidenceContext,
  port: EvidencePort,
  organizationId: string | null,
): Promise<string | null> {
  const keyFile = requireMirror().env['EVIDENCE_KEY_FILE'];
  if (!keyFile) return 'EVIDENCE_KEY_FILE is not set';
  const { lastSignedBeside, readKeyFile } = await import('../evidence/key-file.js');
  const { sealForExport } = await import('../evidence/seal.js');
  const { timestampCheckpoint } = await import('../evidence/publish-checkpoint.js');
  const { createTimestampPost } = await import('../app/timestamp-authority.js');
  const sealing = {
    port,
    key: () => readKeyFile(keyFile),
    lastSigned: lastSignedBeside(keyFile),
    now: io.now,
    randomBytes,
    holder: randomUUID(),
    signal: io.createInterruptSignal(),
  };
  try {
    await sealForExport(sealing, organizationId);
    const url = requireMirror().env['EVIDENCE_TIMESTAMP_URL'];
    if (url) await timestampCheckpoint(sealing, createTimestampPost(url));
    return null;
  } catch (error) {
    /** The user who exports may not be allowed to read the key or to write next to it, and the authority may be down. */
    const isExpected = error instanceof Error && (error.name === 'EvidenceError' || 'code' in error);
    if (isExpected) return error.message;
    throw error;
  }
}

/** Continues the evidence log after a backup was restored. Renames the log if signed entries were lost. */
export async function beginNewOrigin(
  { engine }: Pick<MirrorLocation, 'engine'>,
  keyFile: string,
  now: () => number,
): Promise<RestoredOrigin | null> {
  const { lastSignedBeside, readKeyFile, readReplacedKeys } = await import('../evidence/key-file.js');
  const { beginOrigin } = await import('../evidence/restore-log.js');
  await engine.prepare(['evidence'], now(), () => undefined);
  const key = () => readKeyFile(keyFile);
  const lastSigned = lastSignedBeside(keyFile);
  // The log gets a new name if signed leaves were lost.
  return await withEvidenceLog({ engine }, port =>
    beginOrigin({ port, now, randomBytes, key, lastSigned }, readReplacedKeys(keyFile)),
  );
}

/** Describes a restored evidence log: its name, and how many signed entries were lost. */
export function describeRestoredLog({ origin, isNew, held, newest, lost }: RestoredOrigin): string {
  if (!isNew) return `The log continues as ${origin}. No signed leaf was lost.`;
  return `The log continues as ${origin}. Its checkpoint has ${held?.size ?? 0} leaves, the newest signed one had ${newest?.size ?? 0}: ${lost} sealed leaves were lost.`;
}

const PUBLISHING_ADVICE =
  'Send the output of "carbon-mirror evidence checkpoint" to somebody else, or set EVIDENCE_CHECKPOINT_FILE or EVIDENCE_TIMESTAMP_URL.';
const SEALING_ADVICE =
  'Check that "carbon-mirror work" runs with EVIDENCE_KEY_FILE. Its log says why it does not seal.';

/** Counts log entries that cannot be checked because EVIDENCE_KEY_FILE is not set. */
export async function countUncheckedLeaves({
  requireMirror,
}: Pick<EvidenceContext, 'requireMirror'>): Promise<number> {
  if (requireMirror().env['EVIDENCE_KEY_FILE']) return 0;
  const count = withEvidenceLog(requireMirror(), async port => (await port.ends()).size);
  return (await count.catch(toNullIfRefused)) ?? 0;
}

/** Returns null for an error with the code `refused`. Rethrows any other error. */
function toNullIfRefused(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'refused') return null;
  throw error;
}

/** Returns a text such as "12 leaves of evidence were not checked: EVIDENCE_KEY_FILE is not set". */
export function describeUncheckedLeaves(leaves: number): string {
  return `${formatWithCommas(leaves)} leaves of evidence were not checked: EVIDENCE_KEY_FILE is not set`;
}

/** Checks for `doctor` that no data has waited too long to be added to the evidence log. */
export async function checkEvidenceSealing({ io, requireMirror }: EvidenceContext): Promise<Finding[]> {
  const unchecked = await countUncheckedLeaves({ requireMirror });
  if (unchecked > 0)
    return [
      warn('evidence', describeUncheckedLeaves(unchecked), 'Set it to the file of the key that signed them.'),
    ];
  if (!requireMirror().env['EVIDENCE_KEY_FILE']) return [];
  const { findSealingRefusal, findOverduePublication, findOverdueSeal } = await import(
    '../evidence/sealing-checks.js'
  );
  const { lastSignedBeside, readKeyFile } = await import('../evidence/key-file.js');
  const { env } = requireMirror();
  const keyFile = String(env['EVIDENCE_KEY_FILE']);
  const [lastSigned, key] = [lastSignedBeside(keyFile), () => readKeyFile(keyFile)];
  const publication = {
    isPublished: Boolean(env['EVIDENCE_CHECKPOINT_FILE']),
    hasAuthority: Boolean(env['EVIDENCE_TIMESTAMP_URL']),
  };
  const finding = await withEvidenceLog(requireMirror(), async port => {
    const refusal = await findSealingRefusal({ port, key, lastSigned });
    if (refusal !== null)
      return fail('evidence', refusal, 'Run "carbon-mirror verify", and find out who changed the database.');
    const unsealed = await findOverdueSeal(port, io.now());
    if (unsealed !== null) return fail('evidence', unsealed, SEALING_ADVICE);
    const unpublished = await findOverduePublication(port, io.now(), publication);
    if (unpublished !== null) return warn('evidence', unpublished, PUBLISHING_ADVICE);
    return ok('evidence', `${(await port.ends()).size} leaves are sealed`);
  });
  return [finding ?? fail('evidence', 'nothing has been sealed', SEALING_ADVICE)];
}

/** Describes where the evidence log records a row version. Returns null if that is unknown. */
export async function describeSealOfVersion(
  location: Pick<MirrorLocation, 'engine'>,
  version: number,
): Promise<string | null> {
  const { describeSeal } = await import('../evidence/describe-seal.js');
  const description = withEvidenceLog(location, port => describeSeal(port, version));
  return await description.catch(toNullIfRefused);
}

/** Verifies the evidence log with the signing key. Returns null without a key or log. */
export async function verifyEvidenceLog({
  requireMirror,
}: Pick<EvidenceContext, 'requireMirror'>): Promise<VerifiedLog | null> {
  const keyFile = requireMirror().env['EVIDENCE_KEY_FILE'];
  /** Only the key identifies the log. */
  if (!keyFile) return null;
  const { lastSignedBeside, readKeyFile } = await import('../evidence/key-file.js');
  const { verifyEvidence } = await import('../evidence/verify-log.js');
  const key = readKeyFile(keyFile);
  const lastSigned = lastSignedBeside(keyFile);
  const verified = await withEvidenceLog(requireMirror(), port => verifyEvidence({ port, key, lastSigned }));
  if (verified === null && lastSigned.read() !== null)
    throw createCheckError('The evidence log is gone: there is no evidence.db, but this key has signed one.');
  return verified;
}
