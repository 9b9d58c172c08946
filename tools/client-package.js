// Packs the client and the webhook verifier as the package carbon-mirror-client, whose only dependency is jose. It consists of the
// files of dist/src that the two modules import. Run it after a build:
//
//   node tools/client-package.js [FOLDER]     # writes carbon-mirror-client-<version>.tgz to FOLDER, by default the current one
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const BUILT = join(ROOT, 'dist/src');
const PACKAGE = join(ROOT, 'dist/client-package');
/** A copy of the types for CommonJS: Node loads the same ES modules by `require`, but TypeScript wants other types for it. */
const COMMONJS = 'commonjs';
/** The modules of the package, by the names under which they are imported. */
const ENTRIES = { '.': 'client', './client': 'client', './webhook': 'webhook/public' };
const IMPORT = /(?:\bfrom|\bimport\(?)\s*'([^']+)'/g;

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const entries = [...new Set(Object.values(ENTRIES))];
const code = collectFiles(entries.map(name => `${name}.js`));
const types = collectFiles(entries.map(name => `${name}.d.ts`));

rmSync(PACKAGE, { recursive: true, force: true });
for (const file of code.files) copyCode(file);
for (const file of types.files) {
  copyTo(file, PACKAGE);
  copyTo(file, join(PACKAGE, COMMONJS));
}
writeJson(join(PACKAGE, COMMONJS, 'package.json'), { type: 'commonjs' });
writeJson(join(PACKAGE, 'package.json'), createManifest());
for (const file of ['LICENSE', 'docs/client-package.md'])
  cpSync(join(ROOT, file), join(PACKAGE, file === 'LICENSE' ? file : 'README.md'));

const target = resolve(process.argv[2] ?? '.');
const { status } = spawnSync('npm', ['pack', PACKAGE, '--pack-destination', target, '--loglevel', 'error'], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;

/**
 * Returns files of dist/src with all files that they import, and the packages that these import.
 * @param {readonly string[]} roots
 */
function collectFiles(roots) {
  const files = new Set(roots);
  /** @type {Set<string>} */
  const packages = new Set();
  for (const file of files) {
    const text = readFileSync(join(BUILT, file), 'utf8');
    for (const [, name = ''] of text.matchAll(IMPORT)) {
      if (!name.startsWith('.')) packages.add(name);
      else files.add(resolveImport(file, name));
    }
  }
  return { files, packages: [...packages].filter(name => !name.startsWith('node:')) };
}

/**
 * Returns the file that an import means. In files of types, an import names the .js file of a module but means its .d.ts file.
 * @param {string} file
 * @param {string} name
 */
function resolveImport(file, name) {
  const path = posix.join(posix.dirname(file), name);
  return file.endsWith('.d.ts') ? path.replace(/\.js$/, '.d.ts') : path;
}

/**
 * Copies code without the name of its source map, which is not packed.
 * @param {string} file
 */
function copyCode(file) {
  const text = readFileSync(join(BUILT, file), 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, '');
  mkdirSync(dirname(join(PACKAGE, file)), { recursive: true });
  writeFileSync(join(PACKAGE, file), text);
}

/**
 * @param {string} file
 * @param {string} folder
 */
function copyTo(file, folder) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  copyFileSync(join(BUILT, file), join(folder, file));
}

function createManifest() {
  const { version, license, engines, dependencies, peerDependencies, peerDependenciesMeta } = manifest;
  if (types.packages.length > 0) throw new Error(`the types import ${types.packages.join()}`);
  return {
    name: 'carbon-mirror-client',
    version,
    description: 'A typed client of a carbon-credit registry, and a verifier of its webhooks',
    license,
    type: 'module',
    engines,
    sideEffects: false,
    exports: {
      ...Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, createExport(file)])),
      './package.json': './package.json',
    },
    dependencies: Object.fromEntries(code.packages.map(name => [name, dependencies[name]])),
    peerDependencies,
    peerDependenciesMeta,
  };
}

/**
 * Returns the entry of `exports` for a module.
 * @param {string} file
 */
function createExport(file) {
  return {
    import: { types: `./${file}.d.ts`, default: `./${file}.js` },
    require: { types: `./${COMMONJS}/${file}.d.ts`, default: `./${file}.js` },
  };
}

/**
 * @param {string} file
 * @param {unknown} value
 */
function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
