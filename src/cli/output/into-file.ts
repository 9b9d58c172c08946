import { randomUUID } from 'node:crypto';
import { createWriteStream, existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Reader } from '../../store/contract/reader.js';
import { readCoverage } from '../../query/certificates.js';
import { countKnown } from '../../query/coverage.js';
import { readOrigin } from '../../query/names.js';
import { demandMirror, findSettings } from '../connect/find-mirror.js';
import { reading } from '../connect/mirror-location.js';
import { type CommandFault, usageFault } from '../exit.js';
import { type FileOptions, formatOf } from '../formats.js';
import { readSpan } from '../words.js';
import { type Io, say } from '../io.js';
import { withSnakeKeys } from '../snake-case.js';
import { jsonText } from './output.js';

const PRIVATE_FILE = 0o600;

interface Options extends FileOptions {
  readonly asOf?: string;
}

/** The command as it was called, for who finds the file in a year. */
type Asked = Readonly<Record<string, unknown>> & { readonly command: string };

/**
 * Where a new file is named: all that the work prints stands there, whole or not at all, and beside it when it was made, as of
 * when, and how far the mirror could be trusted. That is read before: the file holds that much at least.
 */
export async function intoFile<T extends Options>(
  io: Io,
  asked: Asked,
  options: T,
  work: (io: Io, options: T) => Promise<void>,
): Promise<void> {
  const { out: file, ...rest } = options;
  if (file === undefined) return await work(io, options);
  demandNewFile(file);
  const then = options.asOf === undefined ? null : { asOf: readSpan(options.asOf, io.now()).to };
  const location = demandMirror(findSettings(io));
  const asOf = then?.asOf ?? new Date(io.now()).toISOString();
  const about = { asOf, demo: location.demo, ...(await reading(location, readAbout)) };
  await asWhole(file, async part => {
    await writeWhole(part, async stdout => {
      const terminal = { ...io.terminal, stdout: false };
      await work({ ...io, stdout, terminal }, { ...options, ...formOf(options, file), ...then });
    });
    writeSidecar(file, {
      file: basename(file),
      bytes: statSync(part).size,
      ...about,
      madeAt: new Date(io.now()).toISOString(),
      asked: { ...asked, ...rest },
    });
  });
  say(io, `Wrote ${file}, and ${sidecarOf(file)} about it.`);
}

/** A file of that name is whole, or as it was before. */
async function asWhole(file: string, write: (part: string) => Promise<void>): Promise<void> {
  const part = `${file}.${randomUUID()}.part`;
  try {
    await write(part);
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** What was said counts before the name. */
function formOf(options: FileOptions, file: string): FileOptions {
  if (formatOf(options) !== 'table') return {};
  if (file.endsWith('.csv')) return { csv: true };
  return file.endsWith('.json') ? { json: true } : {};
}

async function writeWhole(part: string, work: (stdout: Writable) => Promise<void>): Promise<void> {
  const stdout = createWriteStream(part, { flags: 'wx', mode: PRIVATE_FILE });
  const written = finished(stdout);
  const worked = work(stdout).finally(() => stdout.end());
  try {
    await Promise.all([written, worked]);
  } finally {
    await written.catch(() => undefined);
  }
}

/** Which registry it is of, and how far the mirror could be trusted. */
export async function readAbout(reader: Reader) {
  const origin = await readOrigin(reader);
  return {
    registry: origin?.base_url ?? null,
    appId: origin?.app_id ?? null,
    known: await countKnown(reader),
    coverage: await readCoverage(reader, null, null),
  };
}

/** What is said of a file that was taken away stands beside it. */
export function sidecarOf(file: string): string {
  return `${file}.json`;
}

/** Throws where there is one already. */
export function writeSidecar(file: string, about: object): void {
  const text = `${jsonText(withSnakeKeys(about), 2)}\n`;
  writeFileSync(sidecarOf(file), text, { flag: 'wx', mode: PRIVATE_FILE });
}

/** Of a file that is taken away with a sidecar: nothing is ever written over. */
export function demandNewFile(file: string): void {
  if (file === '') throw usageFault('Expected the name of a new file, got an empty text.');
  const folder = dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw usageFault(`${file}: there is no folder ${folder}.`, 'Make it first, or name another place.');
  }
  const taken = [file, sidecarOf(file)].find(name => existsSync(name));
  if (taken !== undefined) throw isThere(taken);
}

export function isThere(file: string): CommandFault {
  return usageFault(`${file} is there already.`, 'Name a new file, or remove that one first.');
}
