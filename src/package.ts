import { existsSync, readFileSync } from 'node:fs';

/** The folder of package.json. Files shipped with the program are found from here, wherever the code was bundled to. */
export const PACKAGE_FOLDER = findPackageFolder(new URL('./', import.meta.url));

export function readPackageVersion(): string {
  const { version }: { readonly version: string } = JSON.parse(
    readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8'),
  );
  return version;
}

/** Returns the URL of the compiled file `name` beside a module. For a module in src/, looks in dist/src/ instead. */
export function resolveBuiltFile(moduleUrl: string, name: string): URL {
  const sourceFolder = new URL('src/', PACKAGE_FOLDER).href;
  const builtFolder = new URL('dist/src/', PACKAGE_FOLDER).href;
  return new URL(name, moduleUrl.replace(sourceFolder, builtFolder));
}

/** Returns the nearest folder with a package.json, starting at `folder` and going up. */
function findPackageFolder(folder: URL): URL {
  if (existsSync(new URL('package.json', folder))) return folder;
  const parent = new URL('../', folder);
  if (parent.href === folder.href) throw new Error(`there is no package.json above ${import.meta.url}`);
  return findPackageFolder(parent);
}
