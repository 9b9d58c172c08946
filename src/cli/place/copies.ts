import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Of the folder in which a copy is made for a browser, for as long as that takes. */
const PREFIX = 'copy-';

export function makeCopyFolder(folder: string): string {
  return mkdtempSync(join(folder, PREFIX));
}

/** Removes what consoles that were killed have left: copies that are so old, or all of them. */
export function sweepCopies(folder: string, madeBefore = Infinity): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).filter(each => each.startsWith(PREFIX))) {
    const path = join(folder, name);
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) >= madeBefore) continue;
    rmSync(path, { recursive: true, force: true });
  }
}
