// Makes dist/ of src/ and migrations/ under a program that may be running: for importers and types a file each, by tsc; for the program one
// bundle in a folder named for its sources, by rolldown. Each file is written beside and renamed over the old one, those which
// name the bundle after all others; what has no source any more goes last, and nothing is touched where dist/ was made from
// these very sources. The bundle before stays for who still runs it, until there is another.
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
/** Stands in dist/ as long as all of it was made from the sources with this digest; below it, what was made. */
const DIGEST = join(DIST, '.sources-sha256');
const MAIN = 'main.js';
const BUNDLED = 'kysely';
const CHECKER = 'src/evidence/checker';
/** What is started as a process or a thread of its own. */
const PROGRAMS = [
  'src/main',
  'src/app/receiver-thread',
  'src/app/seal-thread',
  'src/app/events/event-thread',
  'src/store/sqlite/mirror/mirror-thread',
  'src/store/sqlite/sql-query/query-process',
  'src/store/sqlite/sql-query/query-watchdog',
];
/** What people start stands at the top. */
const STARTED = PROGRAMS.map(program => (program === 'src/main' ? MAIN : `${program}.js`));

process.exitCode = (await build()) || (await loadDriver());

async function build() {
  const digest = digestOf([
    ...SOURCES.flatMap(folder => filesOf(join(ROOT, folder)).map(file => join(folder, file))),
    'tsconfig.json',
    'tools/build.js',
  ]);
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
    await bundle(fresh, programOf(digest));
    await buildChecker(fresh);
    if (!isBuilt(digest)) replace(fresh, digest);
    return 0;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** npm leaves a driver out without a word where it cannot compile it: the driver itself says the cause and the cure. */
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
 * Our own sources, and one package of so many files that reading them would take longer than any question; all others stay
 * where npm put them, with their licences and their own versions. Each program by itself, and all that it loads at once in one
 * file: reading many costs more than the code does.
 * @param {string} fresh
 * @param {string} program
 */
async function bundle(fresh, program) {
  const { build: roll } = await import('rolldown');
  const licence = `/*! ${BUNDLED}\n${readFileSync(join(ROOT, 'node_modules', BUNDLED, 'LICENSE'), 'utf8')}*/`;
  for (const file of PROGRAMS) {
    const entry = join(ROOT, `${file}.ts`);
    const atOnce = loadedBy(entry);
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
          groups: [{ debugName: 'at once', name: (id, modules) => (atOnce(id, modules) ? 'at-once' : null) }],
        },
      },
    });
  }
  for (const file of ['main.js', 'main.js.map', 'main.d.ts']) rmSync(join(fresh, 'src', file));
  for (const file of STARTED) nameBundle(fresh, file, program);
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
 * Sources that run unbuilt start the same threads and processes as the program does.
 * @param {string} fresh
 * @param {string} file
 * @param {string} program
 */
function nameBundle(fresh, file, program) {
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
 * Whether a module is loaded by the program itself, not only by what it imports later.
 * @param {string} entry
 * @returns {(id: string, modules: Modules) => boolean}
 */
function loadedBy(entry) {
  /** @type {Set<string>} */
  const found = new Set();
  return (id, modules) => {
    if (found.size === 0) collect(entry, modules, found);
    return id !== entry && found.has(id);
  };
}

/**
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
 * @param {string} fresh
 * @param {string} digest
 */
function replace(fresh, digest) {
  const before = namedProgram();
  rmSync(DIGEST, { force: true });
  const files = filesOf(fresh).toSorted((a, b) => STARTED.indexOf(a) - STARTED.indexOf(b));
  for (const file of files) {
    mkdirSync(dirname(join(DIST, file)), { recursive: true });
    renameSync(join(fresh, file), join(DIST, file));
  }
  removeAllBut([...files, before]);
  if (before !== undefined && before !== programOf(digest)) keepFromPackages(before);
  writeFileSync(join(fresh, 'digest'), [digest, ...files].join('\n'));
  renameSync(join(fresh, 'digest'), DIGEST);
}

/** @param {readonly (string | undefined)[]} kept */
function removeAllBut(kept) {
  const stays = new Set(kept);
  for (const file of filesOf(DIST)) {
    if (stays.has(file) || stays.has(dirname(file))) continue;
    rmSync(join(DIST, file));
    if (readdirSync(dirname(join(DIST, file))).length === 0) rmdirSync(dirname(join(DIST, file)));
  }
}

/**
 * npm packs no second bundle.
 * @param {string} program
 */
function keepFromPackages(program) {
  writeFileSync(join(DIST, program, '.npmignore'), '*\n');
}

/** @param {string} digest */
function programOf(digest) {
  return `program-${digest.slice(0, 12)}`;
}

/** The bundle that is started at present. */
function namedProgram() {
  const main = join(DIST, MAIN);
  return existsSync(main) ? /program-\w+/.exec(readFileSync(main, 'utf8'))?.[0] : undefined;
}

/** @param {string} digest */
function isBuilt(digest) {
  if (!existsSync(DIGEST)) return false;
  const [built, ...files] = readFileSync(DIGEST, 'utf8').split('\n');
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
 * Paths below a folder, in one order everywhere.
 * @param {string} folder
 */
function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}
