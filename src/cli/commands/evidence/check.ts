import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_FOLDER } from '../../../package.js';
import type { CommandContext } from '../../context.js';
import { createCheckError, throwIfInterrupted, createNotFoundError } from '../../exit.js';

const SCRIPT = fileURLToPath(new URL('docs/check.sh', PACKAGE_FOLDER));

/** Runs docs/check.sh on an exported evidence folder. Throws if the evidence is invalid. */
export async function verifyEvidenceFolder(
  context: CommandContext,
  folder: string,
  { key = '', since }: { readonly key: string | undefined; readonly since: string | undefined },
): Promise<void> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw createNotFoundError(`${folder} is not an evidence folder.`);
  const interrupted = context.io.createInterruptSignal();
  const scriptArguments = [SCRIPT, key, ...(since === undefined ? [] : [resolve(since)])];
  const script = spawn('sh', scriptArguments, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: interrupted,
  });
  const output: string[] = [];
  for (const stream of [script.stdout, script.stderr]) stream.on('data', chunk => output.push(String(chunk)));
  const [code] = await once(script, 'close');
  throwIfInterrupted(interrupted);
  await context.printLines(...output.join('').trimEnd().split('\n'));
  if (code !== 0) throw createCheckError(`${folder} is not valid evidence for the key you gave.`);
}
