import { randomBytes } from 'node:crypto';
import type { RestoredLog } from '../../evidence/restore-log.js';
import type { MirrorContext } from '../context.js';
import { withEvidenceLog } from './evidence-log.js';

/**
 * Continues the evidence log after its database was restored, under a new name if signed leaves were lost. Migrates its schema
 * first. Returns null if nothing was ever sealed.
 */
export async function continueRestoredLog(
  { engine }: Pick<MirrorContext, 'engine'>,
  keyFile: string,
  now: () => number,
): Promise<RestoredLog | null> {
  const { openLastSignedFile, readKeyFile, readReplacedKeys } = await import('../../evidence/key-file.js');
  const { continueAfterRestore } = await import('../../evidence/restore-log.js');
  await engine.prepare(['evidence'], now(), () => undefined);
  const key = () => readKeyFile(keyFile);
  const lastSigned = openLastSignedFile(keyFile);
  return await withEvidenceLog({ engine }, port =>
    continueAfterRestore({ port, now, randomBytes, key, lastSigned }, readReplacedKeys(keyFile)),
  );
}

/** Describes in sentences how an evidence log continues after a restore: its name, and how many signed leaves were lost. */
export function describeRestoredLog({ origin, isNew, held, newest, lost }: RestoredLog): string {
  if (!isNew) return `The log continues as ${origin}. No signed leaf was lost.`;
  return `The log continues as ${origin}. Its newest stored checkpoint has ${held?.size ?? 0} leaves, and the newest signed checkpoint had ${newest?.size ?? 0}: ${lost} signed leaves were lost.`;
}
