import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { openReader } from '../../src/store/sqlite/reader.js';
import { makeFolder } from '../support/folder.js';
import { BOTH_ENGINES } from '../support/mirror/open.js';
import { answerQuestion, openLibrary, QUESTIONS, readPlaces } from '../support/questions.js';
import { copyDatabases, openTablesIn } from '../support/tables.js';

/** Calls of one question. Questions about each list and filter have many. */
const MAX_CALLS = 60;
/** The text of longer answers is approved by its hash and its beginning. */
const MAX_LENGTH = 1_500;

let filled: Promise<string> | null = null;

/** Fills a mirror with odd rows once, and returns the folder of its copy. */
async function fillOnce(): Promise<string> {
  const engine = BOTH_ENGINES.find(({ name }) => name === 'SQLite');
  if (engine === undefined) throw new Error('expected SQLite');
  const { folder } = await openLibrary(engine, true);
  const copy = makeFolder('carbon-mirror-answers-');
  copyDatabases(folder, copy);
  return copy;
}

afterAll(async () => {
  if (filled !== null) rmSync(await filled, { recursive: true });
});

/**
 * test/contract/readers.test.ts compares the answers of PostgreSQL with these.
 * To approve changes, run: npx vitest run test/query/approved-answers.test.ts -u, and read the diff.
 */
test.skipIf(inject('keptIn') === 'PostgreSQL').each(Object.keys(QUESTIONS))(
  'the answers of %s match the approved ones',
  async name => {
    const folder = await (filled ??= fillOnce());
    const reader = openReader({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
    onTestFinished(() => reader.close());
    const places = await readPlaces(openTablesIn(folder));
    const question = QUESTIONS[name];
    if (question === undefined) throw new Error(`expected the question ${name}`);
    const text = await answerQuestion({ reader, places }, question, MAX_CALLS);
    const hash = createHash('sha256').update(text).digest('hex');
    expect(text.length > MAX_LENGTH ? `${hash}\n${text.slice(0, MAX_LENGTH)}` : text).toMatchSnapshot();
  },
);
