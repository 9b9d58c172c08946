// npm run build: builds dist/ from src/ and migrations/. It does nothing if dist/ was built from the same sources.
//
// - Importers get one JavaScript file and one file of types for each source file, from tsc.
// - The program gets a bundle from rolldown, in the folder program-DIGEST. DIGEST is a digest of the sources.
//
// A build does not disturb programs that are running. Files are built in another folder and then renamed into dist/. The files
// that start a bundle are replaced after the bundle itself, and files without a source are deleted last. The previous bundle
// stays until the next build, because running programs still load from it.
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
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['src', 'migrations'];
const DIST = join(ROOT, 'dist');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
/** The first line is the digest of the sources of dist/, the other lines are the built files. Missing while files are replaced. */
const DIGEST_FILE = join(DIST, '.sources-sha256');
const MAIN = 'main.js';
const BUNDLED = 'kysely';
const CHECKER = 'src/evidence/checker';
/** The entry points of processes and threads. Each gets a bundle of its own. */
const PROGRAMS = [
  'src/main',
  'src/app/receiver-thread',
  'src/app/seal-thread',
  'src/app/events/event-thread',
  'src/store/sqlite/mirror/mirror-thread',
  'src/store/sqlite/sql-query/query-process',
  'src/store/sqlite/sql-query/query-watchdog',
];
/** The built files that start a bundle. The one that people run is at the top of dist/. */
const ENTRY_FILES = PROGRAMS.map(program => (program === 'src/main' ? MAIN : `${program}.js`));

process.exitCode = (await build()) || (await loadDriver());

async function build() {
  const digest = digestOf([
    ...SOURCES.flatMap(folder => filesOf(join(ROOT, folder)).map(file => join(folder, file))),
    'tsconfig.json',
    'tools/build.js',
  ]);
  if (isBuilt(digest)) return 0;
  if (!existsSync(TSC)) {
    console.error('dist/ is out of date, and the TypeScript compiler is not installed. Run npm ci.');
    return 1;
  }
  const fresh = mkdtempSync(join(ROOT, '.dist-'));
  try {
    const { status } = spawnSync(process.execPath, [TSC, '-p', ROOT, '--outDir', fresh], {
      stdio: 'inherit',
    });
    if (status !== 0) return status ?? 1;
    await bundle(fresh, bundleName(digest));
    await buildChecker(fresh);
    if (!isBuilt(digest)) replace(fresh, digest);
    return 0;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/**
 * Loads the SQLite driver once, so that its absence is noticed at installation. npm silently skips an optional package that it cannot
 * compile; our driver module throws an error with the cause and the remedy. Returns the exit code.
 */
async function loadDriver() {
  if (process.env['npm_config_omit']?.split(/\s+/).includes('optional')) return 0;
  try {
    await import(join(DIST, 'src/store/sqlite/driver.js'));
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
}

/**
 * Bundles each entry point. A bundle contains our own sources and `kysely`, whose many files would slow down the start of every
 * command. All other packages stay in node_modules. Modules that an entry point always loads are put into one file, because one
 * large file loads faster than many small ones.
 * @param {string} fresh
 * @param {string} program
 */
async function bundle(fresh, program) {
  const { build: roll } = await import('rolldown');
  const licence = `/*! ${BUNDLED}\n${readFileSync(join(ROOT, 'node_modules', BUNDLED, 'LICENSE'), 'utf8')}*/`;
  for (const file of PROGRAMS) {
    const entry = join(ROOT, `${file}.ts`);
    const isLoadedAtStart = createStartupCheck(entry);
    await roll({
      cwd: ROOT,
      platform: 'node',
      input: entry,
      external: id => id !== BUNDLED && !id.startsWith('.') && !isAbsolute(id),
      output: {
        dir: join(fresh, program),
        format: 'esm',
        banner: ({ moduleIds }) => (moduleIds.some(isBundled) ? licence : ''),
        chunkFileNames: '[name]-[hash].js',
        codeSplitting: {
          groups: [
            {
              debugName: 'at once',
              name: (id, modules) => (isLoadedAtStart(id, modules) ? 'at-once' : null),
            },
          ],
        },
      },
    });
  }
  for (const file of ['main.js', 'main.js.map', 'main.d.ts']) rmSync(join(fresh, 'src', file));
  for (const file of ENTRY_FILES) writeEntryFile(fresh, file, program);
  chmodSync(join(fresh, MAIN), 0o755);
}

/**
 * Builds check.mjs and check.html, which verifiers get: one file each, not minified, because they should be read. The page may
 * run only this script and this style, and may not use the network.
 * @param {string} fresh
 */
async function buildChecker(fresh) {
  if (!existsSync(join(ROOT, CHECKER))) return;
  const read = (/** @type {string} */ file) => readFileSync(join(ROOT, CHECKER, file), 'utf8');
  const entry = 'node/check-command.ts';
  /** The bundler drops the comment that says how to use the program. */
  const [usage] = /^\/\*\*[^]*?\*\/\n/.exec(read(entry)) ?? [''];
  writeFileSync(join(fresh, 'check.mjs'), `#!/usr/bin/env node\n${usage}${await bundleChecker(entry)}`);
  const script = `\n${await bundleChecker('page/page.ts')}`;
  const style = `\n${read('page/page.css')}`;
  if (/<\/script|<!--/i.test(script)) throw new Error('the script of the page would end early');
  const hashOf = (/** @type {string} */ text) =>
    `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`;
  /** @type {Readonly<Record<string, string>>} */
  const parts = { policy, script, style };
  const page = read('page/page.html').replaceAll(
    /\{(policy|script|style)\}/g,
    (_, name) => parts[name] ?? '',
  );
  writeFileSync(join(fresh, 'check.html'), page);
}

/**
 * Bundles an entry of the checker, without types, into one text that ends with a newline.
 * @param {string} entry
 */
async function bundleChecker(entry) {
  const { rolldown } = await import('rolldown');
  const bundled = await rolldown({
    cwd: ROOT,
    input: join(ROOT, CHECKER, entry),
    platform: 'neutral',
    external: id => id.startsWith('node:'),
  });
  const { output } = await bundled.generate({ format: 'esm', minify: false });
  await bundled.close();
  if (output.length !== 1) throw new Error(`${entry} should become one file`);
  return `${output[0].code.trim()}\n`;
}

/**
 * Writes the file that starts a bundle. It has the path of its source, so that code finds threads and processes at the same path
 * in src/ and in dist/.
 * @param {string} fresh
 * @param {string} file
 * @param {string} program
 */
function writeEntryFile(fresh, file, program) {
  const above = '../'.repeat(file.split('/').length - 1);
  rmSync(join(fresh, `${file}.map`), { force: true });
  writeFileSync(join(fresh, file), `#!/usr/bin/env node\nimport './${above}${program}/${basename(file)}';\n`);
}

/** @param {string} id */
function isBundled(id) {
  return id.includes(`/node_modules/${BUNDLED}/`);
}

/** @typedef {{ getModuleInfo(id: string): { importedIds: readonly string[] } | null }} Modules */

/**
 * Returns a function that checks whether an entry point always loads a module, directly or through other modules. Modules behind a
 * dynamic `import()` are loaded later.
 * @param {string} entry
 * @returns {(id: string, modules: Modules) => boolean}
 */
function createStartupCheck(entry) {
  /** @type {Set<string>} */
  const found = new Set();
  return (id, modules) => {
    if (found.size === 0) collect(entry, modules, found);
    return id !== entry && found.has(id);
  };
}

/**
 * Adds a module and all that it imports statically.
 * @param {string} id
 * @param {Modules} modules
 * @param {Set<string>} found
 */
function collect(id, modules, found) {
  if (found.has(id)) return;
  found.add(id);
  for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) collect(imported, modules, found);
}

/**
 * Moves the built files into dist/, and deletes files that are not built any more.
 * @param {string} fresh
 * @param {string} digest
 */
function replace(fresh, digest) {
  const previous = findCurrentBundle();
  rmSync(DIGEST_FILE, { force: true });
  const files = filesOf(fresh).toSorted((a, b) => ENTRY_FILES.indexOf(a) - ENTRY_FILES.indexOf(b));
  for (const file of files) {
    mkdirSync(dirname(join(DIST, file)), { recursive: true });
    renameSync(join(fresh, file), join(DIST, file));
  }
  removeAllBut([...files, previous]);
  if (previous !== undefined && previous !== bundleName(digest)) excludeFromPackage(previous);
  writeFileSync(join(fresh, 'digest'), [digest, ...files].join('\n'));
  renameSync(join(fresh, 'digest'), DIGEST_FILE);
}

/**
 * Deletes all files of dist/ except these files and the files of these folders.
 * @param {readonly (string | undefined)[]} kept
 */
function removeAllBut(kept) {
  const keptPaths = new Set(kept);
  for (const file of filesOf(DIST)) {
    if (keptPaths.has(file) || keptPaths.has(dirname(file))) continue;
    rmSync(join(DIST, file));
    if (readdirSync(dirname(join(DIST, file))).length === 0) rmdirSync(dirname(join(DIST, file)));
  }
}

/**
 * Excludes the previous bundle from the package that npm packs.
 * @param {string} program
 */
function excludeFromPackage(program) {
  writeFileSync(join(DIST, program, '.npmignore'), '*\n');
}

/** @param {string} digest */
function bundleName(digest) {
  return `program-${digest.slice(0, 12)}`;
}

/** Returns the folder of the bundle that dist/main.js starts. */
function findCurrentBundle() {
  const main = join(DIST, MAIN);
  return existsSync(main) ? /program-\w+/.exec(readFileSync(main, 'utf8'))?.[0] : undefined;
}

/**
 * Whether dist/ is complete and was built from the sources with this digest.
 * @param {string} digest
 */
function isBuilt(digest) {
  if (!existsSync(DIGEST_FILE)) return false;
  const [built, ...files] = readFileSync(DIGEST_FILE, 'utf8').split('\n');
  return built === digest && files.every(file => existsSync(join(DIST, file)));
}

/** @param {readonly string[]} files */
function digestOf(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(ROOT, file)))
      .update('\0');
  return hash.digest('hex');
}

/**
 * Returns the paths of all files below a folder, sorted.
 * @param {string} folder
 */
function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}
