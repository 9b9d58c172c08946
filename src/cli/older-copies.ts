import { type Finding, warn } from '../store/contract/finding.js';

/** Describes, for users of `forget` and `purge`, a folder with an older copy that these commands leave untouched. */
export function describeUntouchedCopy(folder: string): string {
  return `NOT touched: ${folder} holds an older copy of the mirror. Remove it once you no longer need it.`;
}

/** Creates one warning for each folder that holds an older copy of the mirror. */
export function checkOlderCopies(folders: readonly string[]): Finding[] {
  return folders.map(folder =>
    warn(
      'copies',
      `${folder} holds an older copy of the mirror, with personal data`,
      'A restore or a move left it. "forget" and "purge" do not change it; remove it once you no longer need it.',
    ),
  );
}
