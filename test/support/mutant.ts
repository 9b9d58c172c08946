import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { createMirrorPort } from '../../src/store/sqlite/mirror/mirror-port.js';
import type { createMirror } from '../../src/mirror/create-mirror.js';
import { temporaryFolder } from './inbox.js';
import type { MirrorMaker } from './mirror/open.js';

const ROOT = join(import.meta.dirname, '../..');

/** The built program. */
export const PROGRAM = join(ROOT, 'dist', 'main.js');

/** Copies the built program and breaks one piece of code, in a file or in the chunk that the file loads at once. Returns the file to start. */
export function createBrokenProgram(file: string, piece: string, broken: string): string {
  const folder = temporaryFolder();
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  linkDependencies(folder);
  const [program = ''] = /program-\w+/.exec(readFileSync(PROGRAM, 'utf8')) ?? [];
  const bundle = join(folder, 'dist', program);
  breakPiece(join(bundle, findChunk(piece, bundle, file)), piece, broken);
  return join(folder, 'dist', 'main.js');
}

function findChunk(piece: string, bundle: string, file: string): string {
  const source = readFileSync(join(bundle, file), 'utf8');
  if (source.includes(piece)) return file;
  const [, chunk] = /from "\.\/(at-once-[^"]+)"/.exec(source) ?? [];
  return chunk ?? file;
}

/** Copies the built program and breaks one piece of a file in dist/src, which importers load; the program itself runs bundles. Returns the file to start. */
export function createBrokenFiles(file: string, piece: string, broken: string): string {
  const folder = temporaryFolder();
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  linkDependencies(folder);
  breakPiece(join(folder, 'dist/src', file), piece, broken);
  return join(folder, 'dist', 'main.js');
}

/** Loads the program's mirror with one piece of code broken, to check that a test would notice. */
export async function createBrokenMirror(file: string, piece: string, broken: string): Promise<MirrorMaker> {
  const folder = createBrokenFolder(file, piece, broken);
  const mirror: { createMirror: typeof createMirror } = await import(
    getModuleUrl(folder, 'mirror/create-mirror.js')
  );
  const engine: { createMirrorPort: typeof createMirrorPort } = await import(
    getModuleUrl(folder, 'store/sqlite/mirror/mirror-port.js')
  );
  return (db, now) =>
    mirror.createMirror(engine.createMirrorPort(db, join(dirname(db.name), 'certificates')), now);
}

/** Returns the URL of a module in a copy of the program with one piece of code broken. */
export function createBrokenModule(file: string, piece: string, broken: string, name: string): string {
  return getModuleUrl(createBrokenFolder(file, piece, broken), name);
}

function getModuleUrl(folder: string, name: string): string {
  return pathToFileURL(join(folder, 'dist/src', name)).href;
}

function createBrokenFolder(file: string, piece: string, broken: string): string {
  const folder = temporaryFolder();
  for (const part of ['src', 'migrations']) copyCode(join(ROOT, 'dist', part), join(folder, 'dist', part));
  linkDependencies(folder);
  breakPiece(join(folder, 'dist/src', file), piece, broken);
  return folder;
}

function linkDependencies(folder: string): void {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module","version":"0.0.0"}');
}

function breakPiece(file: string, piece: string, broken: string): void {
  const source = readFileSync(file, 'utf8');
  if (source.split(piece).length !== 2) throw new Error(`expected "${piece}" once in ${file}`);
  writeFileSync(file, source.replace(piece, broken));
}

/** Copies code without its source maps, which would point to nothing. */
function copyCode(from: string, to: string): void {
  const names = readdirSync(from, { recursive: true, encoding: 'utf8' });
  for (const name of names.filter(each => each.endsWith('.js'))) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    const code = readFileSync(join(from, name), 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
    writeFileSync(join(to, name), code);
  }
}
