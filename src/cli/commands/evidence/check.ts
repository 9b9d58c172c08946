import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_FOLDER } from '../../../package.js';
import type { CommandContext } from '../../context.js';
import { createCheckError, throwIfInterrupted, createNotFoundError } from '../../exit.js';

const SCRIPT = fileURLToPath(new URL('docs/check.sh', PACKAGE_FOLDER));

/** By the script that everybody else checks it by: that alone knows what a folder may have. */
export async function verifyEvidenceFolder(
  context: CommandContext,
  folder: string,
  [key, since]: string[],
): Promise<void> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw createNotFoundError(`${folder} is not an evidence folder.`);
  const interrupted = context.io.createInterruptSignal();
  const words = [SCRIPT, key ?? '', ...(since === undefined ? [] : [resolve(since)])];
  const script = spawn('sh', words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], signal: interrupted });
  const said: string[] = [];
  for (const stream of [script.stdout, script.stderr]) stream.on('data', each => said.push(String(each)));
  const [code] = await once(script, 'close');
  throwIfInterrupted(interrupted);
  await context.printLines(...said.join('').trimEnd().split('\n'));
  if (code !== 0) throw createCheckError(`${folder} is not valid evidence for the key you gave.`);
}
