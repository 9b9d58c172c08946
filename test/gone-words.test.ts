import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createPages } from '../src/console/pages/pages.js';
import { credit, retirement } from './support/mirror.js';
import { consoleStage, wordsOf } from './support/console-stage.js';

/** A word is gone where it meant the thing behind it; in its other senses it stays. */
const GONE: Readonly<Record<string, readonly RegExp[]>> = {
  sync: [
    /\bsync_run/,
    /\bsync runs?\b/i,
    /\bopen_run\b/,
    /\/runs\b/,
    /\bruns (list|show)\b/,
    /\b(the|each|an?|every|old|scheduled|complete|quiet) runs? (that|which|who|names|is|are|found|was|were|began|last)\b/i,
    /\b(a|the|one|each|first|next|last|latest|new|every|another) looks? at\b/i,
    /\bat the (next|first|last) look\b/i,
  ],
  freshness: [
    /`(behind|late|current|failing|partial|doubtful|forbidden)`/,
    /\b(is|are|says|not|and|or) (behind|doubtful|current)\b/i,
    /\bforbidden_at\b/,
    /\bdoubtful\b/,
  ],
  'as_of, last_answer_at, newest_delivery_id, changes_up_to, error_or_pause_code': [
    /\b(complete_at|answered_at|delivery_id|last_change_number|last_error_code)\b/,
  ],
  heartbeat: [/\bwatched_at\b/, /\bannounced_at\b/, /\bsigns? of life\b/i, /\blookout\b/i],
  job: [/\b(parked|buried|bury|buries|burial)\b/i, /--state (ready|claimed)\b/],
  ignored: [/\bset[_ -]aside\b/i],
  rejected: [/\bpost_refusals\b/, /\brefused posts?\b/i, /\bposts? (is|are|was|were) refused\b/i],
  duplicate: [/`repeats?`/, /\brepeats_only\b/, /\brepeated deliver/i],
  part: [/\blanes?\b/i],
  receiver: [/\bdoors?\b/i, /\bknock/i],
  observed: [/\blearnt\b/i, /\btold_at\b/],
  balanced: [/\bties\b/i],
  available: [/\bfor sale\b/i, /\bcan be sold\b/i, /\bsellable\b/i],
  reservation: [
    /\bhold_outlived\b/,
    /\bheld_\w+/,
    /\b(a|the|this|each|every|no) holds?\b/i,
    /\bholds (that|end|expire|stand)/i,
  ],
  'failed jobs': [/\bstuck\b/i],
  actions: [/\b(deeds?|errands?)\b/i],
};

/** Each of these is held by a test of its own to be what the program says: tables, help, answers, names. */
const ROOT = join(import.meta.dirname, '..');
const SAID = [
  'README.md',
  '.env.example',
  'test/fixtures/public-names.json',
  ...['docs', 'test/fixtures/approved'].flatMap(folder =>
    readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter(each => each.isFile())
      .map(({ name }) => `${folder}/${name}`),
  ),
];

function goneIn(name: string, text: string): readonly string[] {
  return Object.entries(GONE).flatMap(([now, patterns]) =>
    patterns.flatMap(pattern => {
      const found = pattern.exec(text)?.[0];
      return found === undefined ? [] : [`${name}: "${found}" instead of ${now}`];
    }),
  );
}

test('what people read says no word that is gone', () => {
  expect(SAID.length).toBeGreaterThan(15);
  const texts = SAID.map(file => [file, readFileSync(join(ROOT, file), 'utf8')] as const);
  expect(texts.flatMap(([file, text]) => goneIn(file, text))).toEqual([]);
});

test('nor does any page of the console', async () => {
  const { scene, page } = await consoleStage();
  await scene.read('warehouse', [credit('c-1')]);
  await scene.read('retirements', [retirement('r-1')]);
  const paths = createPages()
    .map(({ path }) => path.replace(/:id$/, '1'))
    .filter(path => !path.includes(':'));
  expect(paths.length).toBeGreaterThan(15);
  for (const path of paths) {
    const text = await page(path);
    expect([path, ...goneIn(path, `${wordsOf(text)} ${text}`)]).toEqual([path]);
  }
});

test('a word that comes back is found', () => {
  expect(goneIn('a page', '<a href="/runs?id=1">the run that found it</a>')).toEqual([
    'a page: "/runs" instead of sync',
    'a page: "the run that" instead of sync',
  ]);
});
