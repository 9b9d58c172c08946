import { existsSync } from 'node:fs';

/** The package's own folder: what is shipped beside the code is found from here, wherever the code was bundled to. */
export const PACKAGE = findPackage(new URL('./', import.meta.url));

function findPackage(folder: URL): URL {
  if (existsSync(new URL('package.json', folder))) return folder;
  const above = new URL('../', folder);
  if (above.href === folder.href) throw new Error(`there is no package.json above ${import.meta.url}`);
  return findPackage(above);
}
