// Names the commit and the day of a run that writes its results into a page of docs.
import { execFileSync } from 'node:child_process';

/**
 * Returns the commit that is checked out and today's date, such as `1a2b3c4, 2026-11-29`. Throws if the program has uncommitted changes,
 * because then the results are of no commit.
 */
export function createStamp() {
  const changed = execFileSync('git', ['status', '--porcelain', 'src', 'migrations'], { encoding: 'utf8' });
  if (changed !== '')
    throw new Error(`results can be written only for a commit: commit these files first\n${changed}`);
  const commit = execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], { encoding: 'utf8' }).trim();
  return `${commit}, ${new Date().toISOString().slice(0, 10)}`;
}
