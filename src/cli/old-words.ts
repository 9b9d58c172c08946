/** What was typed before the words were settled, and what is typed now. Gone with the first release. */
export const OLD_WORDS: readonly (readonly [was: string, now: string])[] = [
  ['runs', 'syncs'],
  ['sync_runs', 'syncs'],
  ['sync_run_id', 'sync_id'],
  ['learnt_at', 'observed_at'],
  ['complete_at', 'as_of'],
  ['watched_at', 'worker_seen_at'],
  ['announced_at', 'oldest_unread_at'],
  ['inbox.refusals', 'inbox.rejected_webhooks'],
  ['rows_not_summed', 'rows_without_amount'],
  ['--set-aside', '--ignored'],
  ['--refused', '--rejected'],
  ['--state ready', '--state waiting'],
  ['--state claimed', '--state running'],
  ['--state parked', '--state paused'],
  ['--state buried', '--state failed'],
  ['deliveries tail', 'deliveries list --limit 5'],
  ['deliveries replay', 'sync'],
  ['balance --year', 'as-of'],
  ['certificates verify', 'verify'],
  ['changes --atom', 'changes --follow'],
  ['organizations create', 'api POST /organizations'],
];

/** For each old word of a command line that was refused, what is typed now. */
export function typedNow(argv: readonly string[]): readonly string[] {
  const command = argv.find(word => !word.startsWith('-'));
  const line = argv.join(' ').replaceAll(/(--[a-z-]+)=/g, '$1 ');
  const isTyped = (was: string) =>
    /^[a-z]+$/.test(was) ? was === command : new RegExp(`(?<![\\w-])${was}(?![\\w-])`).test(line);
  return OLD_WORDS.filter(([was]) => isTyped(was)).map(([was, now]) => `"${was}" is now "${now}".`);
}
