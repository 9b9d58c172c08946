import type { LogVerification } from '../../evidence/verify-log.js';
import { type Finding, fail, ok, warn } from '../../store/contract/finding.js';
import { formatWithCommas } from '../../text/numbers.js';
import { createCheckError } from '../command-error.js';
import { type EvidenceContext, withEvidenceLog, toNullIfRefused } from './evidence-log.js';

const PUBLISHING_ADVICE =
  'Send the output of "carbon-mirror evidence checkpoint" to somebody else, or set EVIDENCE_CHECKPOINT_FILE or EVIDENCE_TIMESTAMP_URL.';
const SEALING_ADVICE =
  'Check that "carbon-mirror work" runs with EVIDENCE_KEY_FILE. Its log says why it does not seal.';

/** Counts the leaves of the evidence log that cannot be checked because EVIDENCE_KEY_FILE is not set. 0 if it is set. */
export async function countUncheckedLeaves({
  requireMirror,
}: Pick<EvidenceContext, 'requireMirror'>): Promise<number> {
  if (requireMirror().env['EVIDENCE_KEY_FILE']) return 0;
  const count = withEvidenceLog(requireMirror(), async port => (await port.readProgress()).size);
  return (await count.catch(toNullIfRefused)) ?? 0;
}

/** Returns a text such as "12 leaves of evidence were not checked: EVIDENCE_KEY_FILE is not set". */
export function describeUncheckedLeaves(leaves: number): string {
  return `${formatWithCommas(leaves)} leaves of evidence were not checked: EVIDENCE_KEY_FILE is not set`;
}

/**
 * Checks for `doctor` that the worker seals in time, that it is able to sign, and that a checkpoint was printed, published or
 * timestamped recently. Returns no finding if the mirror has no evidence log and no key.
 */
export async function checkEvidenceSealing({ io, requireMirror }: EvidenceContext): Promise<Finding[]> {
  const unchecked = await countUncheckedLeaves({ requireMirror });
  if (unchecked > 0)
    return [
      warn('evidence', describeUncheckedLeaves(unchecked), 'Set it to the file of the key that signed them.'),
    ];
  if (!requireMirror().env['EVIDENCE_KEY_FILE']) return [];
  const { findSealingRefusal, findOverduePublication, findOverdueSeal } = await import(
    '../../evidence/sealing-checks.js'
  );
  const { openLastSignedFile, readKeyFile } = await import('../../evidence/key-file.js');
  const { env } = requireMirror();
  const keyFile = String(env['EVIDENCE_KEY_FILE']);
  const [lastSigned, key] = [openLastSignedFile(keyFile), () => readKeyFile(keyFile)];
  const publication = {
    isPublished: Boolean(env['EVIDENCE_CHECKPOINT_FILE']),
    hasTimestampAuthority: Boolean(env['EVIDENCE_TIMESTAMP_URL']),
  };
  const finding = await withEvidenceLog(requireMirror(), async port => {
    const refusal = await findSealingRefusal({ port, key, lastSigned });
    if (refusal !== null)
      return fail('evidence', refusal, 'Run "carbon-mirror verify", and find out who changed the database.');
    const unsealed = await findOverdueSeal(port, io.now());
    if (unsealed !== null) return fail('evidence', unsealed, SEALING_ADVICE);
    const unpublished = await findOverduePublication(port, io.now(), publication);
    if (unpublished !== null) return warn('evidence', unpublished, PUBLISHING_ADVICE);
    return ok('evidence', `${(await port.readProgress()).size} leaves are sealed`);
  });
  return [finding ?? fail('evidence', 'nothing has been sealed', SEALING_ADVICE)];
}

/**
 * Verifies the evidence log with the signing key. Returns null if EVIDENCE_KEY_FILE is not set or nothing was ever sealed. Throws
 * if this key has signed a log that no longer exists.
 */
export async function verifyEvidenceLog({
  requireMirror,
}: Pick<EvidenceContext, 'requireMirror'>): Promise<LogVerification | null> {
  const keyFile = requireMirror().env['EVIDENCE_KEY_FILE'];
  /** Only the key identifies the log. */
  if (!keyFile) return null;
  const { openLastSignedFile, readKeyFile } = await import('../../evidence/key-file.js');
  const { verifyLogAgainstMirror } = await import('../../evidence/verify-log.js');
  const key = readKeyFile(keyFile);
  const lastSigned = openLastSignedFile(keyFile);
  const verified = await withEvidenceLog(requireMirror(), port =>
    verifyLogAgainstMirror({ port, key, lastSigned }),
  );
  if (verified === null && lastSigned.read() !== null)
    throw createCheckError('The evidence log is gone: there is no evidence.db, but this key has signed one.');
  return verified;
}
