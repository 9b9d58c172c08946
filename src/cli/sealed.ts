import { randomBytes, randomUUID } from 'node:crypto';
import type { Unsalted } from '../evidence/port.js';
import type { Verified } from '../evidence/verify.js';
import { type Finding, fail, ok } from '../store/contract/finding.js';
import type { Context } from './context.js';
import { checkFault } from './exit.js';

type Where = Pick<Context, 'io' | 'location'>;

/** Removes, and takes the salts of what was sealed of it, so that the log tells nothing of it either. */
export async function eraseSealed<T>(
  { io, location }: Where,
  kind: 'forget' | 'purge',
  what: () => Promise<Unsalted>,
  remove: () => Promise<T>,
): Promise<T> {
  const port = await location().engine.openEvidence();
  if (port === null) return await remove();
  const { erase } = await import('../evidence/seal.js');
  try {
    return await erase({ port, now: io.now, randomBytes, holder: randomUUID() }, kind, what, remove);
  } finally {
    await port.close();
  }
}

const ON_SILENCE =
  'Is "carbon-mirror work" running with EVIDENCE_KEY_FILE? Its log says why it does not seal.';

/** Nothing is said where nothing is to be sealed. */
export async function* checkSealing({ io, location }: Where): AsyncGenerator<Finding> {
  const { engine, env } = location();
  if (!env['EVIDENCE_KEY_FILE']) return;
  const port = await engine.openEvidence();
  if (port === null) {
    yield fail('evidence', 'nothing was ever sealed', ON_SILENCE);
    return;
  }
  const { findUnsealed } = await import('../evidence/behind.js');
  try {
    const unsealed = await findUnsealed(port, io.now());
    const { size } = await port.ends();
    yield unsealed === null
      ? ok('evidence', `${size} leaves are sealed`)
      : fail('evidence', unsealed, ON_SILENCE);
  } finally {
    await port.close();
  }
}

/** Null where no setting names a key: without one nobody can tell which log it is. */
export async function verifySealed({ location }: Where): Promise<Verified | null> {
  const { engine, env } = location();
  const keyFile = env['EVIDENCE_KEY_FILE'];
  if (!keyFile) return null;
  const { lastSignedBeside, readKeyFile } = await import('../evidence/key-file.js');
  const { verifyEvidence } = await import('../evidence/verify.js');
  const [key, lastSigned] = [readKeyFile(keyFile), lastSignedBeside(keyFile)];
  const port = await engine.openEvidence();
  if (port === null && lastSigned.read() === null) return null;
  if (port === null)
    throw checkFault('The log is gone: there is no evidence.db, and this key has signed one.');
  try {
    return await verifyEvidence({ port, key, lastSigned });
  } finally {
    await port.close();
  }
}
