import { randomBytes } from 'node:crypto';
import type { RestoredOrigin } from '../../evidence/restore-log.js';
import type { MirrorContext } from '../context.js';
import { withEvidenceLog } from './evidence-log.js';

/** Continues the evidence log after a restore, under a new name if signed entries were lost. Returns null if nothing was ever signed. */
export async function continueRestoredLog(
  { engine }: Pick<MirrorContext, 'engine'>,
  keyFile: string,
  now: () => number,
): Promise<RestoredOrigin | null> {
  const { createLastSignedFile, readKeyFile, readReplacedKeys } = await import('../../evidence/key-file.js');
  const { beginOrigin } = await import('../../evidence/restore-log.js');
  await engine.prepare(['evidence'], now(), () => undefined);
  const key = () => readKeyFile(keyFile);
  const lastSigned = createLastSignedFile(keyFile);
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
