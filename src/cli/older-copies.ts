import { type Finding, warn } from '../store/contract/finding.js';

/** What `forget` and `purge` say of a folder that they do not touch. */
export function describeOlderCopy(folder: string): string {
  return `NOT touched: ${folder} holds an older copy of the mirror. Remove it once you no longer need it.`;
}

/** What `doctor` says of the folders that hold older copies of the mirror. */
export function checkOlderCopies(folders: readonly string[]): Finding[] {
  return folders.map(folder =>
    warn(
      'copies',
      `${folder} holds an older copy of the mirror, with personal data`,
      'A restore or a move left it. "forget" and "purge" do not change it; remove it once you no longer need it.',
    ),
  );
}
