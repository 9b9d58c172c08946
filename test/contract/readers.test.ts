import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BOTH_ENGINES } from '../support/mirror/open.js';
import { answerQuestion, openLibrary, QUESTIONS } from '../support/questions.js';

/** Asynchronous functions that the compared ones call, and that are compared with them. */
const READ_BY_OTHERS = [
  'addRestatedFields',
  'addRetirements',
  'answerAvailable',
  'answerChanges',
  'answerNewestChanges',
  'chunkRows',
  'collectBalance',
  'collectRows',
  'countRows',
  'findNewerRejections',
  'parseListRequest',
  'readBacklog',
  'readComparedRows',
  'readCreditGroups',
  'readFirst',
  'readFirstReads',
  'readKnownSelection',
  'readLastRestatements',
  'readNewestArrival',
  'readOne',
  'readRetirementGroups',
  'readTexts',
  'replaceNamesAt',
  'serializeAnswer',
  'serializeAnswers',
  'serializeComparison',
  'serializeComparisons',
  'streamCsvRows',
  'streamOf',
  'sumComparedRows',
  'withFreshness',
  'withNotesCell',
];

async function compareAll(isFilled: boolean): Promise<void> {
  const most = isFilled ? Infinity : 3;
  const [first, ...others] = await Promise.all(BOTH_ENGINES.map(engine => openLibrary(engine, isFilled)));
  if (first === undefined) throw new Error('expected engines');
  for (const [name, question] of Object.entries(QUESTIONS)) {
    const expected = await answerQuestion(first, question, most);
    if (isFilled) expect.soft(expected.replaceAll(/null|false|\W/g, ''), name).not.toBe('');
    for (const other of others) expect.soft(await answerQuestion(other, question, most), name).toBe(expected);
  }
}

test('every exported query function that reads is compared here', async () => {
  const folder = new URL('../../src/query/', import.meta.url);
  const reading: string[] = [];
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const module: Record<string, unknown> = await import(new URL(file, folder).href);
    const exported = Object.entries(module).filter(([, value]) => typeof value === 'function');
    reading.push(
      ...exported.flatMap(([name, value]) => (value?.constructor.name.startsWith('Async') ? [name] : [])),
    );
  }
  const compared = new Set(Object.keys(QUESTIONS).map(name => name.split(' ')[0] ?? ''));
  expect(reading.length).toBeGreaterThan(30);
  expect(reading.filter(name => !compared.has(name)).toSorted()).toEqual(READ_BY_OTHERS);
});

test('each query returns the same bytes on both engines, whatever the registry sent', () => compareAll(true));

test('each query returns the same on both engines for an empty mirror', () => compareAll(false));
