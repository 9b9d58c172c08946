/** Prints answers: rows, their total, and how complete and fresh they are. All words come from the answer. */
import type { Answer, AnswerNotes } from '../../query/answer/answer.js';
import { describeCaveat, isUnknown } from '../../query/answer/caveat.js';
import { describeCoverage } from '../../query/answer/describe.js';
import { describeGap } from '../../query/answer/gap.js';
import { CAVEATS_COLUMN, formatNotesCell, serializeAnswer } from '../../query/answer/serialize.js';
import { describeFreshnessSum } from '../../query/freshness/words.js';
import { type Io, printLines, printNotice, streamStdout } from '../io.js';
import { type OutputFormat, printRows, type Row, toJson } from './output-formats.js';
import type { TableShape } from './table.js';

/** How an answer is printed as a table or as CSV. */
export interface AnswerShape extends TableShape {
  readonly tableColumns: readonly string[];
  readonly fileColumns: readonly string[];
  /** The total of the rows, printed below a table. Null if there is none. */
  readonly total: string | null;
}

/** Prints an answer in this format. Prints its notes to stderr for people. */
export async function printAnswer(
  io: Io,
  format: OutputFormat,
  { rows, ...notes }: Answer<Row>,
  { tableColumns, fileColumns, total, ...shape }: AnswerShape,
): Promise<void> {
  if (format === 'json') await streamStdout(io, serializeAnswer(rows, notes, toJson));
  else if (format === 'csv')
    await printRows(io, format, [...fileColumns, CAVEATS_COLUMN], addNotes(rows, notes), shape);
  else {
    await printRows(io, format, tableColumns, rows, shape);
    if (total !== null) await printLines(io, '', total);
  }
  printNotice(io, ...formatAnswerNotes(notes));
}

async function* addNotes(rows: AsyncIterable<Row>, notes: AnswerNotes): AsyncGenerator<Row> {
  const cell = formatNotesCell(notes);
  for await (const row of rows) yield { ...row, [CAVEATS_COLUMN]: cell };
}

/** Returns one line for each thing that a reader must know. A complete and fresh answer needs none. */
function formatAnswerNotes({ at, gaps, coverage, freshness, caveats }: AnswerNotes): string[] {
  return [
    at === null ? null : `As observed by ${at}.`,
    ...gaps.map(describeGap),
    describeCoverage(coverage),
    ...freshness.map(describeFreshnessSum),
    // The command ends with the sentence that nothing is known.
    ...caveats.filter(caveat => !isUnknown(caveat)).map(describeCaveat),
  ].filter(line => line !== null);
}
