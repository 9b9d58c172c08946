import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { createMirror } from '../../src/mirror/mirror.js';
import { temporaryFolder } from './inbox.js';

const ROOT = join(import.meta.dirname, '../..');

/** The program's own mirror with one piece of one line broken, to see that a test would notice. */
export async function brokenMirror(
  file: string,
  piece: string,
  broken: string,
): Promise<typeof createMirror> {
  const folder = temporaryFolder();
  for (const part of ['mirror', 'database', 'registry']) {
    copyCode(join(ROOT, 'dist', part), join(folder, 'dist', part));
  }
  for (const shared of ['node_modules', 'migrations']) symlinkSync(join(ROOT, shared), join(folder, shared));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const target = join(folder, 'dist', 'mirror', file);
  const source = readFileSync(target, 'utf8');
  if (source.split(piece).length !== 2) throw new Error(`expected "${piece}" once in ${file}`);
  writeFileSync(target, source.replace(piece, broken));
  const module: { createMirror: typeof createMirror } = await import(
    pathToFileURL(join(folder, 'dist', 'mirror', 'mirror.js')).href
  );
  return module.createMirror;
}

/** Without the source maps, which would point to nothing. */
function copyCode(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from).filter(each => each.endsWith('.js'))) {
    const code = readFileSync(join(from, name), 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
    writeFileSync(join(to, name), code);
  }
}
