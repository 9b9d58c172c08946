import { type Finding, warn } from '../store/contract/finding.js';

/** Tells the user of `forget` or `purge` about a folder that these commands leave untouched. */
export function describeUntouchedCopy(folder: string): string {
  return `NOT touched: ${folder} holds an older copy of the mirror. Remove it once you no longer need it.`;
}

/** Warns about each folder that holds an older copy of the mirror. */
export function checkOlderCopies(folders: readonly string[]): Finding[] {
  return folders.map(folder =>
    warn(
      'copies',
      `${folder} holds an older copy of the mirror, with personal data`,
      'A restore or a move left it. "forget" and "purge" do not change it; remove it once you no longer need it.',
    ),
  );
}
