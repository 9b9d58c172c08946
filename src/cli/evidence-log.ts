import { randomBytes, randomUUID } from 'node:crypto';
import type { EvidencePort, Which } from '../evidence/port.js';
import type { Restored } from '../evidence/restore.js';
import type { Verified } from '../evidence/verify.js';
import { type Finding, fail, ok, warn } from '../store/contract/finding.js';
import { formatWithCommas } from '../text/numbers.js';
import type { CommandContext, MirrorLocation } from './context.js';
import { createCheckError } from './exit.js';
import { useAndClose } from './mirror-location.js';

type EvidenceContext = Pick<CommandContext, 'io' | 'requireMirror'>;

/** Null where nothing was ever sealed. */
export async function withEvidenceLog<T>(
  { engine }: Pick<MirrorLocation, 'engine'>,
  work: (port: EvidencePort) => Promise<T>,
): Promise<T | null> {
  const port = await engine.openEvidence();
  return port === null ? null : await useAndClose(port, work);
}

/** Removes, and takes the salts of what was sealed of it, so that the log tells nothing of it either. */
export async function eraseWithEvidence<T>(
  { io, requireMirror }: EvidenceContext,
  kind: 'forget' | 'purge',
  what: () => Promise<Which>,
  remove: () => Promise<T>,
): Promise<T> {
  const { erase } = await import('../evidence/write.js');
  const erased = await withEvidenceLog(requireMirror(), async port => {
    const tools = { port, now: io.now, randomBytes, holder: randomUUID() };
    return { removed: await erase(tools, kind, what, remove) };
  });
  return erased === null ? await remove() : erased.removed;
}

/** Null where nothing was ever sealed. */
export async function beginNewOrigin(
  { engine }: Pick<MirrorLocation, 'engine'>,
  keyFile: string,
  now: () => number,
): Promise<Restored | null> {
  const { lastSignedBeside, readKeyFile } = await import('../evidence/key-file.js');
  const { beginOrigin: begin } = await import('../evidence/restore.js');
  await engine.prepare(['evidence'], now(), () => undefined);
  const [key, lastSigned] = [() => readKeyFile(keyFile), lastSignedBeside(keyFile)];
  return await withEvidenceLog({ engine }, port => begin({ port, now, randomBytes, key, lastSigned }));
}

export function describeRestoredLog({ origin, held, newest, lost }: Restored): string {
  return `The log continues as ${origin}. Its checkpoint has ${held?.size ?? 0} leaves, the newest signed one had ${newest?.size ?? 0}: ${lost} sealed leaves were lost.`;
}

const SEALING_ADVICE =
  'Check that "carbon-mirror work" runs with EVIDENCE_KEY_FILE. Its log says why it does not seal.';

/** Leaves that are there though no setting names their key. A role that is to read the mirror alone may not see them. */
export async function countUncheckedLeaves({
  requireMirror,
}: Pick<EvidenceContext, 'requireMirror'>): Promise<number> {
  if (requireMirror().env['EVIDENCE_KEY_FILE']) return 0;
  const counted = withEvidenceLog(requireMirror(), async port => (await port.ends()).size);
  return (await counted.catch(toNullIfRefused)) ?? 0;
}

function toNullIfRefused(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'refused') return null;
  throw error;
}

export function describeUncheckedLeaves(leaves: number): string {
  return `${formatWithCommas(leaves)} leaves of evidence were not checked: EVIDENCE_KEY_FILE is not set`;
}

/** Nothing is said where nothing is to be sealed, and nothing ever was. */
export async function checkSealing({ io, requireMirror }: EvidenceContext): Promise<Finding[]> {
  const unchecked = await countUncheckedLeaves({ requireMirror });
  if (unchecked > 0)
    return [
      warn('evidence', describeUncheckedLeaves(unchecked), 'Set it to the file of the key that signed them.'),
    ];
  if (!requireMirror().env['EVIDENCE_KEY_FILE']) return [];
  const { findUnsealed } = await import('../evidence/behind.js');
  const found = await withEvidenceLog(requireMirror(), async port => {
    const unsealed = await findUnsealed(port, io.now());
    if (unsealed !== null) return fail('evidence', unsealed, SEALING_ADVICE);
    return ok('evidence', `${(await port.ends()).size} leaves are sealed`);
  });
  return [found ?? fail('evidence', 'nothing has been sealed', SEALING_ADVICE)];
}

/** Null where nothing was ever sealed, or this role may not see it. */
export async function describeSealOfVersion(
  location: Pick<MirrorLocation, 'engine'>,
  version: number,
): Promise<string | null> {
  const { describeSeal } = await import('../evidence/sealed-in.js');
  const told = withEvidenceLog(location, port => describeSeal(port, version));
  return await told.catch(toNullIfRefused);
}

/** Null where no setting names a key: without one nobody can tell which log it is. */
export async function verifyEvidenceLog({
  requireMirror,
}: Pick<EvidenceContext, 'requireMirror'>): Promise<Verified | null> {
  const keyFile = requireMirror().env['EVIDENCE_KEY_FILE'];
  if (!keyFile) return null;
  const { lastSignedBeside, readKeyFile } = await import('../evidence/key-file.js');
  const { verifyEvidence } = await import('../evidence/verify.js');
  const [key, lastSigned] = [readKeyFile(keyFile), lastSignedBeside(keyFile)];
  const verified = await withEvidenceLog(requireMirror(), port => verifyEvidence({ port, key, lastSigned }));
  if (verified === null && lastSigned.read() !== null)
    throw createCheckError('The evidence log is gone: there is no evidence.db, but this key has signed one.');
  return verified;
}
