/**
 * Checks a folder of evidence that carbon-mirror exported: node check.mjs FOLDER KEY [OLDER-CHECKPOINT]
 *
 * Runs in Node 20 or newer, Deno and Bun, without any package. Exit codes: 0 verified, 3 not verified, 2 wrong usage or not
 * checkable here, 1 crash. The last line is the verdict.
 */
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { checkEvidence } from '../check.js';
import { EXIT_CODES, formatReport } from '../report-lines.js';
import { makePrintable } from '../text.js';
import { listFolder } from './folder.js';

const STANDARD_OUTPUT = 1;
const USAGE = 'Usage: node check.mjs FOLDER KEY [OLDER-CHECKPOINT]';

/** Checks a folder, prints the report and returns the exit code. Takes the arguments of the command. */
async function main([folder, key = '', older, ...others]: readonly string[]): Promise<number> {
  if (folder === undefined || others.length > 0) return reportNotChecked(USAGE);
  let [files, olderCheckpoint] = [new Map() as Awaited<ReturnType<typeof listFolder>>, ''];
  try {
    files = await listFolder(folder);
    if (older !== undefined) olderCheckpoint = await readFile(older, 'utf8');
  } catch (error) {
    return reportNotChecked(error instanceof Error ? error.message : String(error));
  }
  const report = await checkEvidence({ files, key, olderCheckpoint });
  print(formatReport(report).join('\n'));
  return EXIT_CODES[report.verdict];
}

/** Prints `reason` and the verdict "could not be checked". Returns the exit code of this verdict. */
function reportNotChecked(reason: string): number {
  console.error(makePrintable(reason));
  print('Verdict: could not be checked');
  return EXIT_CODES['could not be checked'];
}

/** Writes a text to the standard output. Throws if that fails: an exit code must not stand for a verdict that was not printed. */
function print(text: string): void {
  writeFileSync(STANDARD_OUTPUT, `${text}\n`);
}

process.exitCode = await main(process.argv.slice(2));
