import { existsSync, readFileSync } from 'node:fs';

/** The package's own folder: what is shipped beside the code is found from here, wherever the code was bundled to. */
export const PACKAGE_FOLDER = findPackageFolder(new URL('./', import.meta.url));

export function readPackageVersion(): string {
  const { version }: { readonly version: string } = JSON.parse(
    readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8'),
  );
  return version;
}

/** What is started as a thread or a process of its own: beside its module as it was built, which is in dist/ for sources that run unbuilt. */
export function resolveBuiltFile(module: string, name: string): URL {
  return new URL(
    name,
    module.replace(new URL('src/', PACKAGE_FOLDER).href, new URL('dist/src/', PACKAGE_FOLDER).href),
  );
}

function findPackageFolder(folder: URL): URL {
  if (existsSync(new URL('package.json', folder))) return folder;
  const above = new URL('../', folder);
  if (above.href === folder.href) throw new Error(`there is no package.json above ${import.meta.url}`);
  return findPackageFolder(above);
}
