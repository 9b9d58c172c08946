import { type Finding, warn } from '../store/contract/finding.js';

/** Returns a notice that `forget` and `purge` did not change the older copy in this folder. */
export function describeUntouchedCopy(folder: string): string {
  return `NOT touched: ${folder} holds an older copy of the mirror. Remove it once you no longer need it.`;
}

/** Creates a warning for each folder that holds an older copy of the mirror. */
export function checkOlderCopies(folders: readonly string[]): Finding[] {
  return folders.map(folder =>
    warn(
      'copies',
      `${folder} holds an older copy of the mirror, with personal data`,
      'A restore or a move left it. "forget" and "purge" do not change it; remove it once you no longer need it.',
    ),
  );
}
