import { randomUUID } from 'node:crypto';
import { createWriteStream, renameSync, rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Reader } from '../../store/contract/reader.js';
import { readCoverage } from '../../query/certificates.js';
import { countKnown } from '../../query/coverage.js';
import { readOrigin } from '../../query/names.js';
import { type FileOptions, formatOf } from '../formats.js';
import { readSpan } from '../instant.js';
import { type Io, say } from '../io.js';
import { type MirrorLocation, reading } from '../connect/mirror-location.js';
import { demandNewFile, sidecarOf, writeSidecar } from './sidecar.js';

const PRIVATE_FILE = 0o600;

interface Options extends FileOptions {
  readonly asOf?: string;
}

interface Where {
  readonly io: Io;
  /** Asked only where a file is named. */
  readonly findMirror: (io: Io) => MirrorLocation;
}

/** The command as it was called, for who finds the file in a year. */
type Asked = Readonly<Record<string, unknown>> & { readonly command: string };

/**
 * Where a new file is named: all that the work prints stands there, whole or not at all, and beside it when it was made, as of
 * when, and how far the mirror could be trusted. That is read before: the file holds that much at least.
 */
export async function intoFile<T extends Options>(
  { io, findMirror }: Where,
  asked: Asked,
  options: T,
  work: (io: Io, options: T) => Promise<void>,
): Promise<void> {
  const { out: file, ...rest } = options;
  if (file === undefined) return await work(io, options);
  demandNewFile(file);
  const then = options.asOf === undefined ? null : { asOf: readSpan(options.asOf, io.now()).to };
  const about = await aboutMirror(io, findMirror(io), then?.asOf);
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

async function aboutMirror(io: Io, location: MirrorLocation, asOf: string | undefined) {
  const at = asOf ?? new Date(io.now()).toISOString();
  return { asOf: at, demo: location.demo, ...(await reading(location, readAbout)) };
}

/** Which registry it is of, and how far the mirror could be trusted. */
export async function readAbout(reader: Reader) {
  const origin = await readOrigin(reader);
  return {
    registry: origin?.baseUrl ?? null,
    appId: origin?.appId ?? null,
    known: await countKnown(reader),
    coverage: await readCoverage(reader, null, null),
  };
}
