import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BOTH_ENGINES } from '../support/mirror/open.js';
import { answerQuestion, openLibrary, QUESTIONS } from '../support/questions.js';

/** Exported functions that other query functions call; they are not tested by themselves. */
const PARTS = `
  addRestatedFields addRetirements allOf amountOf answerAvailable answerChanges answerNewestChanges answerSums belongsTo byChoice byDays byFlag byId byPart byRetirement byState byWord byYear certificateFile
  collectBalance collectRows colourOf compareStandings count countRows creditType day decodeSignedText defineMirroredList defineOwnList
  describeActor describeBalanceReason describeCaveat describeCaveats describeCompleteness describeExcludedRows describeExplanationReason describeFirstReads
  describeFreshnessSum describeGap describeGaps describeHeld describeListState describeNotes describeRejection describeTotals describeUnchanged
  describeUnknown describeVerdict estimateFirstReads findByName findLastYearEnd findList findAmountCaveats findTroubles
  findUnknownReason formatAmounts formatCaveatCell formatCoverage formatNotesCell freshnessOf getFilterText getOrganizationName getQualifiedName
  getRejectionAdvice groupByOwner id idOf instant instantBefore isFrozen isOfKnownOrganization isProjectOf
  isUnknown isWholeList jobKind labelOf limitRows matches matchingRows newestInSql
  organizationIdsOf ownerOf parseGroupings parseListRequest rankOf readBacklog readCreditGroups readFirst readFirstReads readKnownRows readOne
  readLastRestatements readRetirementGroups readSuspensions readTexts readUnknownOrders relation reportMissingName
  reportFailingLists resourceName seconds selectColumns selectInstalled selectKnownIds selectListedSums
  selectOwners selectOwnersExcept selectRowColumns sentenceOf serializeAnswer serializeAnswers showSql startsWith state streamOf suggestNames text
  toExactSum toGapData toJson toNotesAt tonnes toReadableSums toTotals totalsOfSums wasValidAt withFreshness withNotesCell wordsOf worstOf
  parseComparedLists serializeComparison describeCounts describeType findFirstReadEnd formatChangedFields getOrderValues groupRows hasOwnedHistory listComparisonColumns listFileColumns listFileRows listOrderColumns
  readComparedRows serializeComparisons showComparisonSql sumComparedRows toAmountCells toNotesData useNamesAt
`.match(/\w+/g);

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

test('every exported query function is tested here', async () => {
  const folder = new URL('../../src/query/', import.meta.url);
  const exported: string[] = [];
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const module: Record<string, unknown> = await import(new URL(file, folder).href);
    exported.push(...Object.keys(module).filter(name => typeof module[name] === 'function'));
  }
  const asked = new Set(Object.keys(QUESTIONS).map(name => name.split(' ')[0] ?? ''));
  expect([...new Set(exported)].toSorted()).toEqual([...asked, ...(PARTS ?? [])].toSorted());
});

test('each query returns the same bytes on both engines, whatever the registry sent', () => compareAll(true));

test('each query returns the same on both engines for an empty mirror', () => compareAll(false));
