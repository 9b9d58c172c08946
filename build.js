// Compiles src/ into dist/ under a program that may be running: each file is written beside and renamed over the old one,
// what has no source any more goes last, and nothing is touched where dist/ was made from these very sources.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = import.meta.dirname;
const SRC = join(ROOT, 'src');
const DIST = join(ROOT, 'dist');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
/** Stands in dist/ as long as all of it was made from the sources with this digest. */
const DIGEST = join(DIST, '.sources-sha256');

process.exitCode = build();

function build() {
  const digest = digestOf([...filesOf(SRC).map(file => join('src', file)), 'tsconfig.json', 'build.js']);
  if (isBuilt(digest)) return 0;
  if (!existsSync(TSC)) {
    console.error('dist/ is not that of these sources, and there is no compiler here: run npm ci.');
    return 1;
  }
  const fresh = mkdtempSync(join(ROOT, '.dist-'));
  try {
    const { status } = spawnSync(process.execPath, [TSC, '-p', ROOT, '--outDir', fresh], {
      stdio: 'inherit',
    });
    if (status !== 0) return status ?? 1;
    chmodSync(join(fresh, 'main.js'), 0o755);
    if (!isBuilt(digest)) replace(fresh, digest);
    return 0;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function replace(fresh, digest) {
  rmSync(DIGEST, { force: true });
  const files = filesOf(fresh);
  for (const file of files) {
    mkdirSync(dirname(join(DIST, file)), { recursive: true });
    renameSync(join(fresh, file), join(DIST, file));
  }
  const made = new Set(files);
  for (const file of filesOf(DIST)) {
    if (!made.has(file)) rmSync(join(DIST, file), { force: true });
  }
  writeFileSync(join(fresh, 'digest'), digest);
  renameSync(join(fresh, 'digest'), DIGEST);
}

function isBuilt(digest) {
  if (!existsSync(DIGEST) || readFileSync(DIGEST, 'utf8') !== digest) return false;
  return filesOf(SRC).every(file => existsSync(join(DIST, file.replace(/\.ts$/, '.js'))));
}

function digestOf(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(ROOT, file)))
      .update('\0');
  return hash.digest('hex');
}

/** Paths below a folder, in one order everywhere. */
function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}
