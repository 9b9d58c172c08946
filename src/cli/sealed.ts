import { randomBytes, randomUUID } from 'node:crypto';
import type { EvidencePort, Which } from '../evidence/port.js';
import type { Restored } from '../evidence/restore.js';
import type { Verified } from '../evidence/verify.js';
import { type Finding, fail, ok, warn } from '../store/contract/finding.js';
import { formatWithCommas } from '../text/numbers.js';
import type { CommandContext, MirrorLocation } from './context.js';
import { checkFault } from './exit.js';
import { using } from './mirror-location.js';

type Where = Pick<CommandContext, 'io' | 'location'>;

/** Null where nothing was ever sealed. */
export async function withLog<T>(
  { engine }: Pick<MirrorLocation, 'engine'>,
  work: (port: EvidencePort) => Promise<T>,
): Promise<T | null> {
  const port = await engine.openEvidence();
  return port === null ? null : await using(port, work);
}

/** Removes, and takes the salts of what was sealed of it, so that the log tells nothing of it either. */
export async function eraseSealed<T>(
  { io, location }: Where,
  kind: 'forget' | 'purge',
  what: () => Promise<Which>,
  remove: () => Promise<T>,
): Promise<T> {
  const { erase } = await import('../evidence/write.js');
  const erased = await withLog(location(), async port => {
    const tools = { port, now: io.now, randomBytes, holder: randomUUID() };
    return { removed: await erase(tools, kind, what, remove) };
  });
  return erased === null ? await remove() : erased.removed;
}

/** Null where nothing was ever sealed. */
export async function beginOrigin(
  { engine }: Pick<MirrorLocation, 'engine'>,
  keyFile: string,
  now: () => number,
): Promise<Restored | null> {
  const { lastSignedBeside, readKeyFile } = await import('../evidence/key-file.js');
  const { beginOrigin: begin } = await import('../evidence/restore.js');
  await engine.prepare(['evidence'], now(), () => undefined);
  const [key, lastSigned] = [() => readKeyFile(keyFile), lastSignedBeside(keyFile)];
  return await withLog({ engine }, port => begin({ port, now, randomBytes, key, lastSigned }));
}

export function describeRestored({ origin, held, newest, lost }: Restored): string {
  return `The log continues as ${origin}. Its checkpoint has ${held?.size ?? 0} leaves, the newest signed one had ${newest?.size ?? 0}: ${lost} sealed leaves were lost.`;
}

const ON_SILENCE =
  'Check that "carbon-mirror work" runs with EVIDENCE_KEY_FILE. Its log says why it does not seal.';

/** Leaves that are there though no setting names their key. A role that is to read the mirror alone may not see them. */
export async function countUnchecked({ location }: Pick<Where, 'location'>): Promise<number> {
  if (location().env['EVIDENCE_KEY_FILE']) return 0;
  const counted = withLog(location(), async port => (await port.ends()).size);
  return (await counted.catch(unlessRefused)) ?? 0;
}

function unlessRefused(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'refused') return null;
  throw error;
}

export function describeUnchecked(leaves: number): string {
  return `${formatWithCommas(leaves)} leaves of evidence were not checked: EVIDENCE_KEY_FILE is not set`;
}

/** Nothing is said where nothing is to be sealed, and nothing ever was. */
export async function checkSealing({ io, location }: Where): Promise<Finding[]> {
  const unchecked = await countUnchecked({ location });
  if (unchecked > 0)
    return [
      warn('evidence', describeUnchecked(unchecked), 'Set it to the file of the key that signed them.'),
    ];
  if (!location().env['EVIDENCE_KEY_FILE']) return [];
  const { findUnsealed } = await import('../evidence/behind.js');
  const found = await withLog(location(), async port => {
    const unsealed = await findUnsealed(port, io.now());
    if (unsealed !== null) return fail('evidence', unsealed, ON_SILENCE);
    return ok('evidence', `${(await port.ends()).size} leaves are sealed`);
  });
  return [found ?? fail('evidence', 'nothing has been sealed', ON_SILENCE)];
}

/** Null where nothing was ever sealed, or this role may not see it. */
export async function readSeal(
  location: Pick<MirrorLocation, 'engine'>,
  version: number,
): Promise<string | null> {
  const { describeSeal } = await import('../evidence/sealed-in.js');
  const told = withLog(location, port => describeSeal(port, version));
  return await told.catch(unlessRefused);
}

/** Null where no setting names a key: without one nobody can tell which log it is. */
export async function verifySealed({ location }: Pick<Where, 'location'>): Promise<Verified | null> {
  const keyFile = location().env['EVIDENCE_KEY_FILE'];
  if (!keyFile) return null;
  const { lastSignedBeside, readKeyFile } = await import('../evidence/key-file.js');
  const { verifyEvidence } = await import('../evidence/verify.js');
  const [key, lastSigned] = [readKeyFile(keyFile), lastSignedBeside(keyFile)];
  const verified = await withLog(location(), port => verifyEvidence({ port, key, lastSigned }));
  if (verified === null && lastSigned.read() !== null)
    throw checkFault('The evidence log is gone: there is no evidence.db, but this key has signed one.');
  return verified;
}
