import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE } from '../../../package.js';
import type { Context } from '../../context.js';
import { CommandFault, checkFault, demandNotInterrupted, EXIT, notThereFault } from '../../exit.js';

/** All that "evidence export" writes, and how many bytes a file of it may have. */
const FILES: readonly (readonly [RegExp, number])[] = [
  [/^[A-Za-z0-9]{1,20}\.(?:txt|html|sh)$|^SHA256SUMS$/, 2 ** 30],
  [/^months\/\d{1,15}\.txt$/, 2 ** 26],
  [/^documents\/[0-9a-f]{64}\.json$|^certificates\/[0-9a-f]{64}\.pdf$/, 2 ** 26],
];
const FOLDERS = ['months', 'documents', 'certificates'];
const MOST_BYTES = 2 ** 33;
const AT_ONCE = 2 ** 16;
const SCRIPT = fileURLToPath(new URL('docs/check.sh', PACKAGE));

/** Of a copy that has nothing but plain files of known names and sizes, by the script that everybody else checks it by. */
export async function checkFolder(context: Context, folder: string, [key, since]: string[]): Promise<void> {
  const interrupted = context.io.interruption();
  const copy = mkdtempSync(join(tmpdir(), 'carbon-mirror-evidence-'));
  try {
    copyPlain(folder, copy, interrupted);
    const words = [SCRIPT, key ?? '', ...(since === undefined ? [] : [resolve(since)])];
    const script = spawn('sh', words, { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'], signal: interrupted });
    const said: string[] = [];
    for (const stream of [script.stdout, script.stderr]) stream.on('data', each => said.push(String(each)));
    const [code] = await once(script, 'close');
    demandNotInterrupted(interrupted);
    await context.print(...said.join('').trimEnd().split('\n'));
    if (code !== 0) throw checkFault(`${folder} is not evidence that somebody you named has signed.`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function copyPlain(from: string, to: string, interrupted: AbortSignal): void {
  if (!lstatSync(from, { throwIfNoEntry: false })?.isDirectory())
    throw notThereFault(`${from} is no folder of evidence.`);
  let bytes = 0;
  for (const inner of ['', ...FOLDERS.filter(name => isFolder(join(from, name)))]) {
    mkdirSync(join(to, inner), { recursive: true });
    for (const name of readdirSync(join(from, inner))) {
      demandNotInterrupted(interrupted);
      if (inner === '' && FOLDERS.includes(name) && isFolder(join(from, name))) continue;
      const file = inner === '' ? name : `${inner}/${name}`;
      const most = FILES.find(([pattern]) => pattern.test(file))?.[1];
      if (most === undefined) refuse(file, 'no folder of evidence has such a file');
      bytes += copyFile(join(from, file), join(to, file), Math.min(most, MOST_BYTES - bytes), file);
    }
  }
}

/** No link is followed, no pipe waited for, and nothing read beyond what it may have. */
function copyFile(from: string, to: string, most: number, file: string): number {
  const source = openPlain(from, file);
  const target = openSync(to, 'wx', 0o600);
  const buffer = Buffer.alloc(AT_ONCE);
  let bytes = 0;
  try {
    if (!fstatSync(source).isFile()) refuse(file, 'it is no plain file');
    for (let read = -1; read !== 0; bytes += read) {
      if (bytes > most) refuse(file, 'it is larger than any that is written');
      read = readSync(source, buffer);
      writeSync(target, buffer, 0, read);
    }
  } finally {
    closeSync(source);
    closeSync(target);
  }
  return bytes;
}

function openPlain(path: string, file: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return refuse(file, 'it is a link, or cannot be read');
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function refuse(file: string, why: string): never {
  throw new CommandFault(EXIT.checkFailed, `Not checked: ${file}: ${why}.`);
}
