// npm run torture -- fuzz [smallest] [posts=N] [answers=N] [commands=N] [seed=N] [program=FILE]: sends random and mutated posts to a real
// receiver, registry answers to the code that parses them, and command lines to the program. Runs the named kinds, or all of them.
// Exits with 1 after any crash, status 500, stack trace, unhandled rejection or memory growth.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fuzzAnswers } from './fuzz-answers.js';
import { fuzzCommands } from './fuzz-commands.js';
import { fuzzPosts } from './fuzz-posts.js';
import { stackOf } from './fuzz-random.js';

/** Settings of every kind of fuzzing. */
/** @typedef {{ count: number, seed: number, program: URL }} Fuzzing */
/** Result of a kind: the faults, and how much memory grew. */
/** @typedef {{ faults: string[], sizes: number[], growth: number, unit: string }} Tally */
/** @typedef {'posts' | 'answers' | 'commands'} Kind */

/** @type {Readonly<Record<Kind, { run: (fuzzing: Fuzzing) => Promise<Tally>, count: number, smallest: number }>>} */
const KINDS = {
  posts: { run: fuzzPosts, count: 100_000, smallest: 200 },
  answers: { run: fuzzAnswers, count: 100_000, smallest: 500 },
  commands: { run: fuzzCommands, count: 10_000, smallest: 30 },
};
/** Allowed growth after the first fifth of a run. Short runs are not checked. */
const MOST_GROWTH_MB = 64;
const LONG = 5_000;

setFlagsFromString('--expose-gc');
globalThis.gc ??= runInNewContext('gc');
/** @type {Readonly<Record<string, string>>} */
const options = Object.fromEntries(
  process.argv.slice(2).flatMap(word => (word.includes('=') ? [word.split('=')] : [])),
);
const seed = Number(options['seed'] ?? Date.now() % 1_000_000);
const program = pathToFileURL(options['program'] ?? join(import.meta.dirname, '../../dist/main.js'));
/** @type {readonly Kind[]} */
const all = ['posts', 'answers', 'commands'];
const named = all.filter(kind => kind in options);
/** @type {string[]} */
const unawaited = [];
process.on('unhandledRejection', error => unawaited.push(`not awaited: ${stackOf(error)}`));
process.on('uncaughtException', error => unawaited.push(`not caught: ${stackOf(error)}`));

let failed = false;
process.stdout.write(`seed=${seed}\n`);
try {
  for (const kind of named.length > 0 ? named : all) await fuzz(kind);
} catch (error) {
  failed = true;
  process.stdout.write(`FAULT ${stackOf(error)}\n`);
}
process.exit(failed ? 1 : 0);

/** @param {Kind} kind */
async function fuzz(kind) {
  const { run, count: usual, smallest } = KINDS[kind];
  const count = Number(options[kind] ?? (process.argv.includes('smallest') ? smallest : usual));
  const startedAt = Date.now();
  const { faults, growth, unit, sizes, ...details } = await run({ count, seed, program });
  const found = [...faults, ...unawaited.splice(0)];
  if (count >= LONG && growth > MOST_GROWTH_MB) found.push(`grew by ${growth} ${unit}: ${sizes.join(', ')}`);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`${kind}: ${count} in ${seconds} s, ${JSON.stringify(details)}, ${growth} ${unit}\n`);
  for (const fault of found) process.stdout.write(`FAULT ${fault}\n`);
  failed ||= found.length > 0;
}
