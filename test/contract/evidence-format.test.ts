import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkContent, type FolderContent, readContent } from '../support/evidence-folder.js';
import { openForgeableLog } from '../support/exported-evidence.js';
import { forgeFolder } from '../support/forgeries.js';
import { temporaryFolder } from '../support/inbox.js';
import { createRandom } from '../support/random.js';
import { ENGINES } from '../support/mirror/open.js';

const CHECKER = join(import.meta.dirname, '../evidence/second_checker.py');
/** `npm run torture -- forgery` sets more. */
const COUNT = Number(process.env['FORGED_FOLDERS'] ?? 40);

/** Runs the checker in Python that was written from docs/evidence-format.md. Returns a line for each folder. */
function runSecondChecker(key: string, older: string, contents: readonly FolderContent[]): string[] {
  const folders = contents.map(content => {
    const folder = temporaryFolder();
    for (const [path, bytes] of content) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    }
    return folder;
  });
  const output = execFileSync('python3', [CHECKER, key, older, ...folders], { encoding: 'utf8' });
  return output.trimEnd().split('\n');
}

describe.each(ENGINES.slice(0, 1))('$name', engine => {
  test.each(['old', 'organization-1', '2025', '2026'])(
    'T93 a checker that was written from the format page agrees about honest and forged folders of %s',
    async what => {
      const { write, hex, older, olderCheckpoint } = await openForgeableLog(engine);
      const content = readContent((await write(what)).folder);
      const seeds = Array.from({ length: COUNT }, (_, index) => index + 1);
      const forgeries = seeds.flatMap(
        seed => forgeFolder({ content, olderCheckpoint }, createRandom(seed)) ?? [],
      );
      const contents = [content, ...forgeries.map(forgery => forgery.content)];
      const answers = runSecondChecker(hex, older, contents);
      expect(answers).toHaveLength(contents.length);
      expect(answers[0]).toBe('verified');
      for (const [index, forged] of contents.entries()) {
        const { verdict, output } = await checkContent(forged, hex, olderCheckpoint);
        const description = index === 0 ? 'honest' : forgeries[index - 1]?.description;
        expect(answers[index]?.split(':')[0], `${description}: ${answers[index]}\n${output}`).toBe(verdict);
      }
    },
  );
});
