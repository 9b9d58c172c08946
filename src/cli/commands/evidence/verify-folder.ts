import { readFileSync, statSync } from 'node:fs';
import type { Verdict } from '../../../evidence/checker/check.js';
import type { CommandContext } from '../../context.js';
import { EXIT } from '../../exit.js';
import { CommandError, createUsageError } from '../../command-error.js';

/** The exit code of `verify --evidence` for each failed verdict. */
const EXIT_CODES: Readonly<
  Record<Exclude<Verdict, 'verified'>, typeof EXIT.checkFailed | typeof EXIT.usage>
> = {
  'not verified': EXIT.checkFailed,
  'could not be checked': EXIT.usage,
};

/**
 * Verifies an evidence folder and prints the report. Unless the verdict is "verified", throws a CommandError with the exit code and
 * without a text, so that the verdict is the last printed line.
 */
export async function verifyEvidenceFolder(
  context: CommandContext,
  folder: string,
  { key = '', since }: { readonly key: string | undefined; readonly since: string | undefined },
): Promise<void> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw createUsageError(`${folder} is not an evidence folder.`);
  const { checkEvidence } = await import('../../../evidence/checker/check.js');
  const { listFolder } = await import('../../../evidence/checker/node/folder.js');
  const { formatReport } = await import('../../../evidence/checker/report-lines.js');
  const olderCheckpoint = since === undefined ? '' : readFileSync(since, 'utf8');
  const report = await checkEvidence({ files: await listFolder(folder), key, olderCheckpoint });
  await context.printLines(...formatReport(report));
  if (report.verdict !== 'verified') throw new CommandError(EXIT_CODES[report.verdict], []);
}
